# What a developer does most; each target is one command that also works by itself.
bin = .venv/bin
python = $(bin)/python

port = 8000

.PHONY: setup run worker test fast timing lint types format sizes

setup:  ## a virtual environment with everything the suite needs
	python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt

run:  ## the site, reloaded after each change; needs `make worker` beside it; port=8010 for another port
	$(python) manage.py migrate && EVALSITE_DEBUG=1 $(python) manage.py runserver $(port)

worker:  ## what scores runs; start it again after a change
	$(python) manage.py worker

test:  ## the whole suite
	$(python) -m pytest

fast:  ## the quick tests, without the browser and what is marked slow
	$(python) -m pytest -m "not slow and not browser"

timing:  ## what measures time, one by one
	$(python) -m pytest -m timing --numprocesses=0

lint:
	$(bin)/ruff check . && $(bin)/ruff format --check . && $(bin)/lint-imports && $(bin)/djlint --lint --quiet templates

types:
	$(bin)/mypy

format:
	$(bin)/ruff format .

sizes:  ## a report of large files, functions and folders, which fails nothing
	$(python) -m tests.support.sizes
