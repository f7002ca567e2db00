"""Orders, and how often each was confirmed."""

from django.db import models


class Order(models.Model):
    """Something that commits or rolls back."""

    number = models.IntegerField(unique=True)
    confirmed = models.IntegerField(default=0)

    class Meta:
        app_label = "shop"
