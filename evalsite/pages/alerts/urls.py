"""The addresses of alert rules and alerts."""

from __future__ import annotations

from django.urls import path

from evalsite.pages.alerts import views as alerts

urlpatterns = [
    path("teams/<slug:slug>/alerts/", alerts.alerts, name="alerts"),
    path("teams/<slug:slug>/alerts/new/", alerts.new_alert_rule, name="new_alert_rule"),
    path("alerts/rules/<uuid:uid>/", alerts.alert_rule, name="alert_rule"),
    path("alerts/rules/<uuid:uid>/pause/", alerts.pause_alert_rule, name="pause_alert_rule"),
    path("alerts/rules/<uuid:uid>/resume/", alerts.resume_alert_rule, name="resume_alert_rule"),
    path("alerts/rules/<uuid:uid>/delete/", alerts.delete_alert_rule, name="delete_alert_rule"),
    path("alerts/rules/<uuid:uid>/restore/", alerts.restore_alert_rule, name="restore_alert_rule"),
    path("alerts/rules/<uuid:uid>/secret/", alerts.alert_rule_secret, name="alert_rule_secret"),
    path("alerts/rules/<uuid:uid>/test/", alerts.test_alert_rule, name="test_alert_rule"),
    path("alerts/<uuid:uid>/acknowledge/", alerts.acknowledge_alert, name="acknowledge_alert"),
]
