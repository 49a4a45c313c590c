# What a developer does most; each target is one command that also works by itself.
bin = .venv/bin
python = $(bin)/python

port = 8000

.PHONY: setup run worker test fast postgresql touched slow limits lint types format sizes

setup:  ## a virtual environment with everything the suite needs
	python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt

run:  ## the site, reloaded after each change; needs `make worker` beside it; port=8010 for another port
	$(python) manage.py migrate && EVALSITE_DEBUG=1 $(python) manage.py runserver $(port)

worker:  ## what scores runs; start it again after a change
	$(python) manage.py worker

test:  ## the whole suite
	$(python) -m pytest

fast:  ## without the browser
	$(python) -m pytest -m "not slow and not browser"

postgresql:  ## what touches rows, on a PostgreSQL server of the tests' own
	$(python) -m pytest --ds=tests.settings_postgresql --without-repeats

touched:  ## what the uncommitted changes touch, by imports and templates; since=COMMIT for more
	$(python) -m pytest $$($(python) -m tests.support.touched $(since))

slow:  ## everything: simulations, real files at full size, all examples, a hundred kills a kind
	EVALSITE_SLOW_TESTS=1 $(python) -m pytest

limits:  ## what people wait for beside its limits, on an idle machine
	$(python) benchmarks/limits.py

lint:
	$(bin)/ruff check . && $(bin)/ruff format --check . && $(bin)/lint-imports && $(bin)/djlint --lint --quiet templates

types:
	$(bin)/mypy

format:
	$(bin)/ruff format .

sizes:  ## a report of large files, functions and folders, which fails nothing
	$(python) -m tests.support.sizes
