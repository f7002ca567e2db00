"""A Django project in one file, for WSGI and ASGI."""

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path

from tests.library.web.jobs import ask, ask_async

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], SECRET_KEY="test")


def sync_view(_request, number):
    return JsonResponse(ask(number))


async def async_view(_request, number):
    return JsonResponse(await ask_async(number))


urlpatterns = [path("sync/<int:number>", sync_view), path("async/<int:number>", async_view)]
wsgi = get_wsgi_application()
asgi = get_asgi_application()
