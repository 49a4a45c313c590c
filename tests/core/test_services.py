"""Which services scorers use, and what a config may choose of them."""

from __future__ import annotations

import pytest

from scoring.core import local_services, services
from scoring.core.scorers import llm_judge
from scoring.core.services import Available
from tests.support.coordinates import Coordinates


def test_the_same_one_answers_every_batch_unless_another_is_named() -> None:
    assert services.current_services() is services.current_services()
    other = Coordinates()
    with services.use_services(other):
        assert services.current_services() is other
    assert services.current_services() is local_services.local_services()


BOTH = Available(["main", "own"], default_connection="main", has_environment_key=True)


@pytest.mark.parametrize(
    ("wanted", "available", "chosen"),
    [
        (None, BOTH, "main"),
        ("own", BOTH, "own"),
        ("environment", BOTH, "environment"),
        (None, Available(["own"]), "own"),
        (None, Available(["own", "spare"]), "spare"),
        (None, Available(has_environment_key=True), "environment"),
        (None, Available(), None),
    ],
)
def test_saving_chooses_the_connection(
    wanted: str | None, available: Available, chosen: str | None
) -> None:
    config = llm_judge.FactualityConfig(model="m", connection=wanted)
    assert llm_judge.resolve_defaults(config, available).connection == chosen


@pytest.mark.parametrize("available", [Available(), Available(["main"], "main")])
def test_a_connection_the_team_has_not_is_refused_at_saving(available: Available) -> None:
    from scoring.core.contract import ConfigError

    with pytest.raises(ConfigError, match="no connection 'gone'"):
        llm_judge.resolve_defaults(
            llm_judge.FactualityConfig(model="m", connection="gone"), available
        )
