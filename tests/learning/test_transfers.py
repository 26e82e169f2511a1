"""Transfer matrices, and any learner along any route."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from learnroute import Calibrated, InputError, RefusedError, plan, read_problem
from learnroute.cli import run
from learnroute.learning import (
    ProximalRegressor,
    RegionData,
    RouteRegressor,
    Transfer,
    calibrate,
    follow,
    model_distance,
    rehearse,
    transfer,
    zero_one_error,
)
from learnroute.learning.data import resample_region


def regions(classes: int = 3, size: int = 4, seed: int = 0) -> dict[str, RegionData]:
    """Classes around centres that are rotated from region to region."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(size):
        angle = 2 * np.pi * np.arange(classes) / classes + 0.5 * k
        centres = 2 * np.column_stack([np.cos(angle), np.sin(angle)])

        def draw(n: int, centres: np.ndarray = centres) -> tuple[np.ndarray, np.ndarray]:
            labels = rng.integers(classes, size=n)
            return centres[labels] + 0.5 * rng.standard_normal((n, 2)), labels.astype(float)

        found[f"turn {k}"] = RegionData(draw(60), draw(80))
    return found


def test_the_paper_learner_has_the_dissimilarities_as_its_transfer_matrix() -> None:
    rng = np.random.default_rng(2)
    truth = rng.standard_normal((3, 4))
    data = {}
    for k in range(3):
        x = rng.standard_normal((50, 4))
        data[f"R{k + 1}"] = RegionData((x, x @ truth[k]), (x, x @ truth[k]), truth[k])
    found = transfer(data, RouteRegressor(), error=model_distance)
    np.testing.assert_allclose(found.errors, ((truth[:, None] - truth[None]) ** 2).sum(axis=2), atol=1e-9)
    assert np.isnan(found.standard_errors).all()


@pytest.mark.parametrize("error", ["zero-one", "cross-entropy", zero_one_error])
def test_a_transfer_matrix_is_what_single_trainings_give(error: Any) -> None:
    data = regions()
    learner = MLPClassifier((8,), random_state=0)
    found = transfer(data, learner, repeats=3, error=error)
    assert found.regions == tuple(data)
    assert (found.trainings == 3).all()
    assert (found.standard_errors > 0).any()
    assert found.errors.shape == (4, 4)
    again = transfer(data, learner, repeats=3, error=error)
    np.testing.assert_array_equal(found.errors, again.errors)
    assert not hasattr(learner, "coefs_")
    if error == "zero-one":
        sgd = transfer(data, SGDClassifier(loss="log_loss", random_state=0), error=error)
        assert sgd.errors.diagonal().mean() < sgd.errors.mean()  # neighbours are alike, others are not


def test_trainings_are_kept_and_not_done_again(tmp_path: Path) -> None:
    data, learner, file = regions(), MLPClassifier((4,), random_state=0), tmp_path / "rows.json"
    whole = transfer(data, learner, repeats=2, error="zero-one")
    calls: list[float] = []

    def stopping(_stage: str, share: float) -> None:
        calls.append(share)
        if len(calls) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transfer(data, learner, repeats=2, error="zero-one", file=file, progress=stopping)
    left: list[float] = []
    found = transfer(
        data, learner, repeats=2, error="zero-one", file=file, progress=lambda _, share: left.append(share)
    )
    assert len(left) == 3
    np.testing.assert_array_equal(found.errors, whole.errors)
    with pytest.raises(InputError, match="trainings of other data"):
        transfer(data, learner, repeats=2, error="cross-entropy", file=file)


def test_each_training_may_deal_the_samples_again(tmp_path: Path) -> None:
    data = regions()
    learner, file = ProximalRegressor(0.1), tmp_path / "rows.json"
    fixed = transfer(data, learner, repeats=3)
    assert fixed.standard_errors.max() < 1e-12  # it does not depend on the order of the samples
    drawn = transfer(data, learner, repeats=3, resample=True, file=file)
    assert (drawn.standard_errors > 1e-6).all()
    np.testing.assert_array_equal(drawn.errors, transfer(data, learner, repeats=3, resample=True, file=file).errors)
    with pytest.raises(InputError, match="trainings of other data"):
        transfer(data, learner, repeats=3, file=file)


def test_samples_divided_again_are_the_same_samples() -> None:
    region = regions()["turn 0"]
    dealt = resample_region(region, np.random.default_rng(0))
    assert [len(part[1]) for part in (dealt.train, dealt.test)] == [60, 80]
    everything = [np.vstack([one.train[0], one.test[0]]) for one in (region, dealt)]
    np.testing.assert_array_equal(np.sort(everything[0], axis=0), np.sort(everything[1], axis=0))
    assert not np.array_equal(dealt.train[0], region.train[0])


def test_a_learner_with_other_settings_does_not_continue_from_a_file(tmp_path: Path) -> None:
    """Settings beyond get_params and the learnt model count, too."""

    class Mean:
        def __init__(self, step: float) -> None:
            self.rule: Any = lambda old, new: old + step * (new - old)
            self.value = 0.0

        def partial_fit(self, features: Any, targets: Any) -> None:
            self.value = self.rule(self.value, float(np.mean(targets)))

        def predict(self, features: Any) -> Any:
            return np.full(len(features), self.value)

    data, file = regions(), tmp_path / "rows.json"
    found = transfer(data, Mean(0.5), file=file)
    np.testing.assert_array_equal(transfer(data, Mean(0.5), file=file).errors, found.errors)
    warm = Mean(0.5)
    warm.value = 1.0
    for other in (Mean(0.25), warm):
        with pytest.raises(InputError, match="trainings of other data, another learner"):
            transfer(data, other, file=file)


def test_workers_change_nothing() -> None:
    data, learner = regions(), MLPClassifier((4,), random_state=0)
    one, two = (transfer(data, learner, error="zero-one", workers=workers) for workers in (1, 2))
    np.testing.assert_array_equal(one.errors, two.errors)


def test_a_time_limit_that_is_too_short_reports_it() -> None:
    with pytest.raises(RefusedError, match="the time limit was reached after 0 of 4 trainings"):
        transfer(regions(), MLPClassifier((4,)), error="zero-one", time_limit=1e-9)


def test_matrices_are_written_and_read(tmp_path: Path) -> None:
    found = transfer(regions(), SGDClassifier(loss="log_loss", random_state=0), repeats=2, error="zero-one")
    found.save(tmp_path / "transfer.json")
    back = Transfer.read(tmp_path / "transfer.json")
    assert back.regions == found.regions
    np.testing.assert_array_equal(back.errors, found.errors)
    np.testing.assert_array_equal(back.standard_errors, found.standard_errors)
    found.save(tmp_path / "transfer.csv")
    assert (tmp_path / "transfer.csv").read_text().splitlines()[0] == "trained in,turn 0,turn 1,turn 2,turn 3"


# Any learner along any route


def test_plans_places_and_names_lead_along_the_same_route() -> None:
    data = regions()
    learner = SGDClassifier(loss="log_loss", random_state=0)
    moved = transfer(data, learner, error="zero-one")
    planned = plan(moved.to_problem(Calibrated(retention=0.3, coupling=0.1)))
    by_plan, by_place, by_name = (
        follow(route, data, learner, "zero-one") for route in (planned, planned.order, planned.route)
    )
    assert by_plan.route == by_place.route == by_name.route == planned.route
    np.testing.assert_array_equal(by_plan.errors, by_place.errors)
    np.testing.assert_array_equal(by_plan.errors, by_name.errors)
    with pytest.raises(InputError, match="there is no region 7; indices go from 0 to 3"):
        follow([0, 7], data, learner)
    with pytest.raises(InputError, match=r"error = 'zero-two': unknown"):
        follow([0, 1], data, learner, "zero-two")


def test_pipeline_trains_like_its_separate_steps() -> None:
    data = regions()
    found = follow(list(data), data, make_pipeline(StandardScaler(), SGDClassifier(random_state=0)), "zero-one")
    scaler, learner = StandardScaler(), SGDClassifier(random_state=0)
    for region in data.values():
        x, y = region.train
        learner.partial_fit(scaler.partial_fit(x).transform(x), y, classes=[0.0, 1.0, 2.0])
    wanted = [np.mean(learner.predict(scaler.transform(r.test[0])) != r.test[1]) for r in data.values()]
    assert found.errors[-1] == pytest.approx(wanted)
    with pytest.raises(InputError, match="its last step needs a method partial_fit"):
        follow(list(data), data, make_pipeline(StandardScaler(), Ridge()))


def test_nested_pipeline_is_fitted_to_the_first_region_only() -> None:
    data, last = regions(), SGDClassifier(random_state=0)
    flat = follow(list(data), data, make_pipeline(RobustScaler(), last), "zero-one")
    nested = follow(list(data), data, make_pipeline(make_pipeline(RobustScaler()), last), "zero-one")
    np.testing.assert_array_equal(nested.errors, flat.errors)


def test_river_models_learn_in_batches() -> None:
    """A model with river's methods; the package itself is tested if it is installed."""
    seen: list[int] = []

    class Mean:
        """river's mini-batch interface: pandas in, pandas out."""

        total, count = 0.0, 0

        def learn_many(self, table: Any, targets: Any) -> None:
            assert list(table.columns) == ["x1", "x2"]
            seen.append(len(table))
            self.total, self.count = self.total + float(targets.sum()), self.count + len(targets)

        def predict_many(self, table: Any) -> Any:
            return np.full(len(table), self.total / max(1, self.count))

    data = regions()
    found = follow(list(data), data, Mean())
    everything = np.concatenate([region.train[1] for region in data.values()])
    wanted = [np.mean((region.test[1] - everything.mean()) ** 2) for region in data.values()]
    assert found.errors[-1] == pytest.approx(wanted)
    assert seen == [60] * 4


def test_works_with_river() -> None:
    linear = pytest.importorskip("river.linear_model", reason="river is not installed")
    data = regions()
    assert follow(list(data), data, linear.LinearRegression()).errors.shape == (4, 4)


def test_pytorch_modules_through_the_adapter() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from learnroute.learning import TorchLearner

    data = regions()
    torch.manual_seed(0)
    learner = TorchLearner(torch.nn.Linear(2, 3), torch.nn.CrossEntropyLoss(),
                           lambda p: torch.optim.SGD(p, lr=0.1), epochs=20, classes=[0, 1, 2])  # fmt: skip
    found = transfer(data, learner, error="zero-one")
    assert found.errors.diagonal().mean() < 0.2
    assert follow(list(data), data, learner, "cross-entropy").errors.shape == (4, 4)


def test_pytorch_labels_go_to_their_outputs_and_dropout_to_its_seed(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from learnroute.learning import TorchLearner

    data = regions()

    def learner(classes: Any = (2, 0, 1), lr: float = 0.1) -> TorchLearner:
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Dropout(0.2),
                                     torch.nn.Linear(16, 3))  # fmt: skip
        return TorchLearner(module, torch.nn.CrossEntropyLoss(), lambda p: torch.optim.SGD(p, lr=lr), epochs=20,
                            classes=classes)  # fmt: skip

    file = tmp_path / "rows.json"
    found = transfer(data, learner(), error="zero-one", file=file)
    assert found.errors.diagonal().mean() < 0.2  # classes in no order but that of the outputs
    torch.manual_seed(99)
    state = torch.random.get_rng_state()
    again = transfer(data, learner(), error="zero-one")
    np.testing.assert_array_equal(again.errors, found.errors)
    assert found.before is None
    torch.manual_seed(99)
    follow(list(data), data, learner())
    torch.manual_seed(99)
    assert torch.equal(torch.random.get_rng_state(), state)
    with pytest.raises(InputError, match="trainings of other data"):
        transfer(data, learner(lr=0.2), error="zero-one", file=file)
    with pytest.raises(InputError, match=r"region 'turn 0': classes: label 2 is none of them"):
        follow(list(data), data, learner([0, 1, 7]), "zero-one")


def test_pytorch_predicts_numbers_too() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from learnroute.learning import TorchLearner

    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 3))
    y = x @ [1.0, -2.0, 0.5] + 3
    data = {name: RegionData((x[:100], y[:100]), (x[100:], y[100:])) for name in ("A", "B")}
    torch.manual_seed(0)
    learner = TorchLearner(torch.nn.Linear(3, 1), torch.nn.MSELoss(), lambda p: torch.optim.Adam(p, lr=0.1), epochs=60)
    assert follow(["A", "B"], data, learner).errors.max() < 0.01


# What is measured

CLASSIFIERS: list[Any] = [
    MLPClassifier((4,), random_state=0),
    SGDClassifier(random_state=0),
    make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
]


@pytest.mark.parametrize("learner", [*CLASSIFIERS, ProximalRegressor(1.0), SGDRegressor(random_state=0)])
def test_classifiers_are_measured_by_the_share_of_wrong_classes(learner: Any, tmp_path: Path) -> None:
    data, name = regions(), "zero_one_error" if learner in CLASSIFIERS else "squared_error"
    other = {"zero_one_error": "zero-one", "squared_error": "squared"}[name]
    moved, followed = transfer(data, learner), follow(list(data), data, learner)
    assert moved.measure == followed.measure == name
    np.testing.assert_array_equal(moved.errors, transfer(data, learner, error=other).errors)
    np.testing.assert_array_equal(followed.errors, follow(list(data), data, learner, other).errors)
    followed.save(tmp_path / "followed.json")
    assert json.loads((tmp_path / "followed.json").read_text())["measure"] == name
    assert transfer(data, learner, error="squared").measure == "squared_error"  # on request


def test_a_learner_without_tags_is_known_by_its_methods() -> None:
    class Own:
        def __init__(self, classes: Any = None) -> None:
            if classes is not None:
                self.classes_ = np.array(classes)

        def partial_fit(self, features: Any, targets: Any) -> None: ...

        def predict(self, features: Any) -> Any:
            return np.zeros(len(features))

    data = regions()
    assert transfer(data, Own()).measure == "squared_error"
    assert transfer(data, Own([0, 1, 2])).measure == "zero_one_error"
    assert rehearse(data, Own([0, 1, 2]), trainings=60).error <= 1


def test_errors_of_different_measures_are_not_mixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data, learner, rng = regions(size=5), MLPClassifier((4,), random_state=0), np.random.default_rng(0)
    moved = transfer(data, learner)
    orders = [rng.permutation(5).tolist() for _ in range(2)]
    right = [follow(order, data, learner) for order in orders]
    wrong = follow(orders[0], data, learner, "squared")
    law = calibrate(moved, right)
    assert law.measure == law.to_dict()["measure"] == law.learner.measure == "zero_one_error"
    said = (
        "followed[1].measure = 'squared_error': the transfer matrix has zero_one_error; measure all with the same error"
    )
    with pytest.raises(InputError, match=re.escape(said)):
        calibrate(moved, [right[0], wrong])
    unknown = Transfer.of(moved.errors, moved.regions)
    with pytest.raises(InputError, match="other pilots have zero_one_error"):
        calibrate(unknown, [right[0], wrong])
    assert calibrate(unknown, right).measure == "zero_one_error"
    assert calibrate(unknown, [(one.route, one.errors) for one in right]).measure == ""
    for name, result in (("moved", moved), ("one", right[0]), ("two", right[1]), ("bad", wrong)):
        result.save(tmp_path / f"{name}.json")
    assert run(["calibrate", "one.json", "bad.json", "--transfer", "moved.json", "-o", "no.json"]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "no.json").exists()
    assert run(["calibrate", "one.json", "two.json", "--transfer", "moved.json", "-o", "problem.json"]) == 0
    planned = plan(read_problem(tmp_path / "problem.json"))
    assert planned.learner is not None
    assert planned.learner.measure == "zero_one_error"
    assert follow(planned, data, learner).final.predicted == pytest.approx(planned.loss.error)
    other = follow(planned, data, learner, "squared")
    assert other.final.predicted is None
    assert "the plan predicts the zero one error, so there is no prediction for the squared error" in other.notes
