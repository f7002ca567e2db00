"""The setting TICKWELL, and the store that follows from DATABASES."""

from types import SimpleNamespace

from django.core.exceptions import ImproperlyConfigured
from django.test import SimpleTestCase, override_settings

from tickwell.contrib.django.configuration import read_configuration
from tickwell.contrib.django.store_url import store_url_of


class Configuration(SimpleTestCase):
    def test_keys_of_django_and_of_tickwell(self):
        given = {"STORE": "memory://", "app": "x", "THREADS": 3, "QUEUES": ["a"], "LEASE": "1m"}
        with override_settings(TICKWELL=given | {"AUTH": False, "PROJECT": "p"}):
            found = read_configuration()
        self.assertEqual((found.app, found.project, found.database), ("x", "p", None))
        self.assertEqual((found.settings.threads, found.settings.queues), (3, ("a",)))
        self.assertEqual(
            dict(found.environment),
            {
                "TICKWELL_STORE": "memory://",
                "TICKWELL_THREADS": "3",
                "TICKWELL_QUEUES": "a",
                "TICKWELL_LEASE": str(found.settings.lease),
                "TICKWELL_AUTH": "false",
            },
        )

    def test_what_is_wrong_is_named(self):
        for given, text in (
            ("memory://", "TICKWELL must be a dict"),
            ({"QEUES": ["a"]}, "unknown key 'QEUES'; did you mean QUEUES?"),
            ({"ZZZZ": 1}, "expected one of DATABASE, APP"),
            ({"THREADS": "many"}, r"TICKWELL\['THREADS'\].*is not a whole number"),
            ({"THREADS": 0}, "TICKWELL: threads: must be 1 or more"),
            ({"DATABASE": "other"}, "which is not in DATABASES; expected one of default"),
            ({"APP": 7}, r"TICKWELL\['APP'\] is 7; give a name"),
            ({"MODULES": "jobs"}, r"TICKWELL\['MODULES'\] is 'jobs'; give names"),
            ({"LEASE": 30}, r"TICKWELL\['LEASE'\]"),
        ):
            with (
                self.subTest(given=given),
                override_settings(TICKWELL=given),
                self.assertRaisesRegex(ImproperlyConfigured, text),
            ):
                read_configuration()

    def test_the_store_of_a_database(self):
        server = {"NAME": "shop", "USER": "me@x", "PASSWORD": "p:/w", "HOST": "db", "PORT": "5433"}
        socket = {"NAME": "shop", "HOST": "/run/pg", "PORT": "5433"}
        tls = {"NAME": "shop", "HOST": "::1", "OPTIONS": {"sslmode": "require", "pool": True}}
        for vendor, given, url in (
            ("postgresql", server, "postgresql://me%40x:p%3A%2Fw@db:5433/shop"),
            ("postgresql", {"NAME": "shop"}, "postgresql:///shop"),
            ("postgresql", socket, "postgresql:///shop?host=%2Frun%2Fpg&port=5433"),
            ("postgresql", tls, "postgresql://[::1]/shop?sslmode=require"),
            ("mysql", server, "mysql://me%40x:p%3A%2Fw@db:5433/shop"),
            ("sqlite", {"NAME": "/var/a b.db"}, "sqlite:////var/a%20b.db?shared=true"),
            ("sqlite", {"NAME": ":memory:"}, "memory://"),
            ("sqlite", {"NAME": "file:m?mode=memory&cache=shared"}, "memory://"),
        ):
            connection = SimpleNamespace(vendor=vendor, alias="default", settings_dict=given)
            self.assertEqual(store_url_of(connection), url)

    def test_a_database_that_cannot_hold_the_store(self):
        service = {"NAME": "shop", "OPTIONS": {"service": "shop"}}
        for vendor, given, why in (
            ("oracle", {"NAME": "x"}, "oracle"),
            ("postgresql", service, "its option 'service'"),
        ):
            connection = SimpleNamespace(vendor=vendor, alias="default", settings_dict=given)
            with self.assertRaisesRegex(ImproperlyConfigured, f"{why} is not supported; set TICK"):
                store_url_of(connection)
