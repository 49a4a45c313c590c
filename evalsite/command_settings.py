"""The settings of `score`, `import` and `evaluate`: the site's, without its pages.

They need the apps that own the rows they touch. Loading the admin, the API and the sign-in takes
longer than many a run. Whatever deletes a person or changes the schema needs `evalsite.settings`.
"""

from evalsite.settings import *  # noqa: F403

INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "scoring"]
