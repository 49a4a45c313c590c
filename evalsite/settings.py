"""Django's settings. What a site may choose comes from env.py; the rest is the same everywhere."""

from __future__ import annotations

import sys
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from pythonjsonlogger.core import RESERVED_ATTRS

from evalsite import env
from scoring.core import log_context
from scoring.core.private_files import make_private

DEBUG = env.DEBUG
SECRET_KEY = env.SECRET_KEY
ALLOWED_HOSTS = env.ALLOWED_HOSTS
CSRF_TRUSTED_ORIGINS = env.CSRF_TRUSTED_ORIGINS
DATA_DIR = env.DATA_DIR
SPOOL_DIR = DATA_DIR / "spool"
SPOOL_DIR.mkdir(mode=0o700, exist_ok=True)
make_private(SPOOL_DIR)
EVALSITE_SCORERS = env.SCORERS
EVALSITE_BROKER_URL = env.BROKER_URL
EVALSITE_WORKER_PROCESSES = env.WORKER_PROCESSES
EVALSITE_JUDGE_CHECK_SAMPLE = env.JUDGE_CHECK_SAMPLE
EVALSITE_MAX_UPLOAD_BYTES = env.MAX_UPLOAD_MB * 1024 * 1024
EVALSITE_ENCRYPTION_KEY = env.ENCRYPTION_KEY
EVALSITE_KEYS_GIVEN = env.KEYS_GIVEN
EVALSITE_MODEL_HOSTS = frozenset(env.MODEL_HOSTS)
EVALSITE_MODEL_FOLDERS = env.MODEL_FOLDERS
EVALSITE_WEBHOOK_HOSTS = frozenset(env.WEBHOOK_HOSTS)
EVALSITE_URL = env.URL
EVALSITE_METRICS_TOKEN = env.METRICS_TOKEN
EVALSITE_MAIL_HOST = env.MAIL_HOST
EVALSITE_OPENAI_API_KEY = env.OPENAI_API_KEY
EVALSITE_OPENAI_BASE_URL = env.OPENAI_BASE_URL

for name, secret in {
    "EVALSITE_SECRET_KEY": SECRET_KEY,
    "EVALSITE_ENCRYPTION_KEY": EVALSITE_ENCRYPTION_KEY,
}.items():
    if not DEBUG and (len(set(secret)) < 5 or len(secret) < 50):
        raise ImproperlyConfigured(
            f"{name} is too weak: use 50 or more random characters, or leave it out and "
            "one is made for you"
        )
if not DEBUG and "*" in ALLOWED_HOSTS:
    raise ImproperlyConfigured(
        "EVALSITE_ALLOWED_HOSTS is '*': name the hosts of this site, or set EVALSITE_DEBUG=1"
    )

INSTALLED_APPS = [
    "scoring",  # before Django's: its commands for accounts write to the audit log
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "csp",
    "django_htmx",
    "lucide",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "evalsite",
]

MIDDLEWARE = [
    "evalsite.middleware.stack_room.StackRoom",
    "evalsite.middleware.request_ids.RequestIds",
    "evalsite.middleware.probes.HealthProbes",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "evalsite.middleware.compression.CompressedPages",
    "evalsite.middleware.private_responses.PrivateResponses",
    "evalsite.middleware.audited_address.AuditedAddress",
    "evalsite.pages.web.error_pages.StorageFaultMiddleware",
    "evalsite.pages.uploads.size_limit.IncompleteFormCheck",
    "evalsite.pages.web.error_pages.StoredSessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "evalsite.middleware.sso_only.SsoOnly",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "evalsite.urls"
WSGI_APPLICATION = "evalsite.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [env.ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "evalsite.pages.web.context_processors.page_frame",
            ],
        },
    },
    {
        "NAME": "rows",
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [env.ROOT / "templates"],
        "OPTIONS": {"environment": "evalsite.rendering.jinja.environment"},
    },
]
FORM_RENDERER = "evalsite.rendering.jinja.FormRenderer"

SQLITE: dict[str, Any] = {
    "ENGINE": "evalsite.sqlite",
    "NAME": DATA_DIR / "evalsite.sqlite3",
    "OPTIONS": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY;"
            "PRAGMA cache_size=-32000;"
        ),
    },
    "TEST": {"NAME": DATA_DIR / "test.sqlite3"},
}
DATABASES: dict[str, dict[str, Any]] = {"default": env.DATABASE or SQLITE}
# A thread keeps its connection, which takes a tenth of a page to open. Those of Django's
# development server serve one request each.
DATABASES["default"]["CONN_MAX_AGE"] = 0 if DEBUG else None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "scoring.User"
AUTHENTICATION_BACKENDS = ["evalsite.middleware.signed_in.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "evalsite.pages.account.adapters.ClosedSignupAdapter"
ACCOUNT_FORMS = {
    "login": "evalsite.pages.account.forms.SignInForm",
    "change_password": "evalsite.pages.account.forms.ChangePasswordForm",
    "reset_password": "evalsite.pages.account.forms.LostPasswordForm",
    "reset_password_from_key": "evalsite.pages.account.forms.NewPasswordForm",
    "reauthenticate": "evalsite.pages.account.forms.ConfirmPasswordForm",
}
MFA_ADAPTER = "evalsite.pages.account.second_factors.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # who is invited by a copied link has no other
MFA_TOTP_TOLERANCE = 1  # steps of half a minute, for clocks that differ
MFA_RATE_LIMITS = False  # codes are limited as passwords are; a passkey is not guessed
MFA_FORMS = {
    "authenticate": "evalsite.pages.account.second_factors.SignInCodeForm",
    "reauthenticate": "evalsite.pages.account.second_factors.ConfirmCodeForm",
    "activate_totp": "evalsite.pages.account.second_factors.ActivateAppForm",
    "authenticate_webauthn": "evalsite.pages.account.second_factors.PasskeySecondStepForm",
    "reauthenticate_webauthn": "evalsite.pages.account.second_factors.PasskeyConfirmForm",
    "login_webauthn": "evalsite.pages.account.second_factors.PasskeySignInForm",
    "add_webauthn": "evalsite.pages.account.second_factors.AddPasskeyForm",
    "edit_webauthn": "evalsite.pages.account.second_factors.RenamePasskeyForm",
}
EVALSITE_SSO = env.SINGLE_SIGN_ON
if EVALSITE_SSO:
    INSTALLED_APPS.append("evalsite.pages.account.sso")  # its libraries are an extra
SOCIALACCOUNT_PROVIDERS = {"sso": {"APPS": EVALSITE_SSO.apps if EVALSITE_SSO else []}}
SOCIALACCOUNT_ADAPTER = "evalsite.pages.account.sso.adapter.SingleSignOnAdapter"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False  # in the memory of one process: see docs/decisions/sign-in.md
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
EVALSITE_TRUSTED_PROXIES = env.TRUSTED_PROXIES
EMAIL_BACKEND = (
    "scoring.engine.mail.smtp.EmailBackend"
    if env.MAIL_HOST
    else "django.core.mail.backends.console.EmailBackend"
)
EMAIL_HOST, EMAIL_PORT = env.MAIL_HOST, env.MAIL_PORT
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = env.MAIL_USER, env.MAIL_PASSWORD
EMAIL_USE_TLS = env.MAIL_SECURITY == "starttls"
EMAIL_USE_SSL = env.MAIL_SECURITY == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.MAIL_FROM

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [env.ROOT / "static"]
WHITENOISE_USE_FINDERS = True
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if env.UPLOADS:
    STORAGES["uploads"] = env.UPLOADS
FILE_UPLOAD_TEMP_DIR = SPOOL_DIR
FILE_UPLOAD_HANDLERS = ["evalsite.pages.uploads.size_limit.UploadSizeLimit"]
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_500  # a combination of a hundred scorers, each with its settings

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "img-src": ["'self'", "data:"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.HTTPS
SECURE_SSL_REDIRECT = env.HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if env.HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.HTTPS and env.HSTS != "host"
SECURE_HSTS_PRELOAD = env.HTTPS and env.HSTS == "preload"
# Other hosts of the domain are not this site's to bind, nor for a year: EVALSITE_HSTS asks for it.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# Probes come past the proxy, over plain HTTP.
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SESSION_COOKIE_SAMESITE = "Lax"

CACHES = env.CACHES
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "evalsite.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["evalsite.api.parsers.StrictJson"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "evalsite.api.parsers.OnlyJson",
    "DEFAULT_THROTTLE_CLASSES": ["evalsite.api.throttling.RequestThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": "3000/min"},
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "evalsite.api.openapi.schema.Operation",
    "EXCEPTION_HANDLER": "evalsite.api.errors.problem_response",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Evalsite",
    "DESCRIPTION": "Review evaluations of LLM and agent outputs.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": ["evalsite.api.openapi.schema.complete"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

LOGGED_IDS = [f"{name}_id" for name in log_context.NAMES]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"ids": {"()": "scoring.core.log_context.IdsFilter"}},
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s%(ids)s"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": ["asctime", "levelname", "name", "message", "process", *LOGGED_IDS],
            "rename_fields": {"asctime": "time", "levelname": "level", "name": "logger"},
            # `ids` says again what the fields say, `request` is an object of Django's.
            "reserved_attrs": [*RESERVED_ATTRS, "ids", "request"],
        },
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "filters": ["ids"],
            "formatter": env.LOG_FORMAT,
            "stream": sys.stderr,
        }
    },
    "loggers": {
        "evalsite": {"handlers": ["stderr"], "level": "INFO"},
        "scoring": {"handlers": ["stderr"], "level": "INFO"},
        # They name every URL they call, and that of a webhook may be a secret.
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
        # It would note each request that waits for a thread, and each thread that ends late.
        "waitress": {"level": "ERROR"},
        # Django tells nobody of a failed page outside DEBUG; a refused one is no news.
        "django.request": {"handlers": ["stderr"], "level": "ERROR", "propagate": False},
    },
}
