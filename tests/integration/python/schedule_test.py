"""Learning rates by the share of the budget that all workers have used."""

import math
import subprocess
import sys
import unittest

import fast_training as fast
import support
import torch
from fast_training import schedule
from fast_training.torch import TorchAdapter

torch.set_num_threads(1)
kinds = torch.optim.lr_scheduler


def training(rate=1.0):
    model = torch.nn.Linear(2, 1)
    return model, torch.optim.SGD(model.parameters(), lr=rate)


def rate_of(optimizer):
    return optimizer.param_groups[0]["lr"]


class Shapes(unittest.TestCase):
    def test_each_goes_from_its_warm_up_to_its_end(self):
        for shape, expected in (
            (schedule.cosine(), {0: 1, 0.5: 0.5, 1: 0, 1.01: 0}),
            (schedule.cosine(warmup=0.2, end=0.1), {0: 0, 0.1: 0.5, 0.2: 1, 0.6: 0.55, 1: 0.1}),
            (schedule.linear(end=0.5), {0: 1, 0.5: 0.75, 1: 0.5}),
            (schedule.linear(warmup=0.5), {0.25: 0.5, 0.5: 1, 0.75: 0.5, 1: 0}),
            (schedule.steps({0.75: 0.01, 0.5: 0.1}), {0: 1, 0.49: 1, 0.5: 0.1, 0.8: 0.01}),
            (schedule.steps({0.5: 0.1}, warmup=0.2), {0: 0, 0.1: 0.5, 0.2: 1, 0.5: 0.1}),
        ):
            for share, value in expected.items():
                self.assertAlmostEqual(shape(share), value)

    def test_what_makes_no_sense_is_refused(self):
        for make in (
            lambda: schedule.cosine(warmup=1),
            lambda: schedule.linear(warmup=-0.1),
            lambda: schedule.steps({30: 0.1}),
            lambda: schedule.steps({0.5: 0.1}, warmup=2),
        ):
            with self.assertRaises(fast.UsageError):
                make()

    def test_they_need_no_framework(self):
        code = (
            "import sys; from fast_training import schedule as s; s.cosine()(0.5); "
            "sys.exit('torch' in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=support.SECONDS)


class ByProgress(unittest.TestCase):
    def test_workers_of_unlike_speed_have_the_same_rate_and_end_at_its_end(self):
        both = [training(0.1) for _ in range(2)]
        sessions = support.ring(
            [TorchAdapter(*one) for one in both], budget=4000, mode="bounded:3", settle_target=1e-6
        )
        rates, steps = [0.0, 0.0], [0, 0]

        def work(index, samples):
            model, optimizer = both[index]
            with sessions[index] as session:
                session.join()
                scheduler = schedule.by_progress(optimizer, session, schedule.cosine(warmup=0.1))
                while not session.done():
                    model(torch.ones(1, 2)).square().mean().backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    session.exchange(samples=samples)
                    scheduler.step()
                    expected = 0.1 * schedule.cosine(warmup=0.1)(session.progress())
                    self.assertAlmostEqual(rate_of(optimizer), expected)
                    steps[index] += 1
                rates[index] = rate_of(optimizer)

        support.together([lambda: work(0, 3), lambda: work(1, 13)])
        for made, rate in zip(steps, rates):
            self.assertGreater(made, 100)
            self.assertLess(rate, 0.001)

    def test_the_rate_goes_on_where_a_session_resumes(self):
        def work(steps, path=None, **options):
            model, optimizer = training(0.25)
            with fast.join(model, optimizer, budget=100, **options) as session:
                scheduler = schedule.by_progress(optimizer, session, schedule.linear(warmup=0.1))
                found = []
                for step in range(steps):
                    if step == 40 and path:
                        session.save_checkpoint(path)
                    model(torch.ones(1, 2)).square().mean().backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    session.exchange()
                    scheduler.step()
                    found.append(rate_of(optimizer))
            return found

        with support.temporary_folder() as folder:
            path = f"{folder}/c.safetensors"
            whole = work(60, path)
            resumed = work(20, resume=path)
        self.assertEqual(resumed, whole[40:])
        self.assertAlmostEqual(whole[54], 0.25 * 0.5)

    def test_a_session_without_an_end_is_refused(self):
        model, optimizer = training()
        with fast.join(model, optimizer) as session:
            with self.assertRaisesRegex(fast.UsageError, "budget="):
                schedule.by_progress(optimizer, session)
            with self.assertRaisesRegex(fast.UsageError, "budget="):
                schedule.follow(kinds.StepLR(optimizer, 30), session, 100)


class Following(unittest.TestCase):
    class Session:
        share = 0.0

        def options(self):
            return {"budget": ("100", ""), "epochs": ("0", "")}

        def progress(self):
            return self.share

        def steps(self):
            return 0

    def rates(self, make, shares):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        scheduler, session = make(optimizer), self.Session()
        names = set(scheduler.state_dict())
        schedule.follow(scheduler, session, 100)
        found = []
        optimizer.step()
        for session.share in shares:
            scheduler.step()
            found.append(rate_of(optimizer))
        self.assertEqual(set(scheduler.state_dict()), names)
        return found

    def test_every_scheduler_is_where_the_network_is(self):
        for make in (
            lambda optimizer: kinds.CosineAnnealingLR(optimizer, 100),
            lambda optimizer: kinds.CosineAnnealingWarmRestarts(optimizer, 30),
            lambda optimizer: kinds.OneCycleLR(optimizer, 1.0, total_steps=101),
            lambda optimizer: kinds.StepLR(optimizer, 30),
            lambda optimizer: kinds.MultiStepLR(optimizer, [30, 80]),
            lambda optimizer: kinds.LinearLR(optimizer, 1.0, 0.01, 100),
            lambda optimizer: kinds.LambdaLR(optimizer, lambda made: 0.9**made),
            lambda optimizer: kinds.ChainedScheduler(
                [kinds.ConstantLR(optimizer, 0.1, 10), kinds.ExponentialLR(optimizer, 0.9)]
            ),
            lambda optimizer: kinds.SequentialLR(
                optimizer,
                [kinds.ConstantLR(optimizer, 0.1, 20), kinds.ExponentialLR(optimizer, 0.9)],
                milestones=[20],
            ),
        ):
            expected = self.rates(make, [step / 100 for step in range(101)])
            self.assertGreater(len(set(expected)), 1)
            found = self.rates(make, [0, 0.005, 0.02, 0.5, 0.5, 1])
            for index, step in enumerate((0, 0, 2, 50, 50, 100)):
                self.assertAlmostEqual(found[index], expected[step])

    def test_a_number_of_steps_that_makes_no_sense_is_refused(self):
        for steps in (0, -1, math.inf, math.nan):
            with self.assertRaisesRegex(fast.UsageError, f"steps is {steps}"):
                schedule.follow(None, self.Session(), steps=steps)

    def test_one_that_counts_no_steps_stays_as_it_is(self):
        optimizer = training()[1]
        scheduler = kinds.ReduceLROnPlateau(optimizer, patience=0)
        schedule.follow(scheduler, self.Session(), 100)
        for _ in range(2):
            scheduler.step(1.0)
        self.assertAlmostEqual(rate_of(optimizer), 0.1)

    def test_one_that_a_checkpoint_lacks_is_refused_and_not_applied_twice(self):
        def work(**options):
            model, optimizer = training(0.25)
            scheduler = kinds.StepLR(optimizer, 30, 0.5)
            with fast.join(model, optimizer, budget=100, **options) as session:
                self.assertIs(schedule.follow(scheduler, session, 100), scheduler)
                for _ in range(40):
                    model(torch.ones(1, 2)).square().mean().backward()
                    optimizer.step()
                    session.exchange()
                    scheduler.step()
                session.save_checkpoint(path)

        with support.temporary_folder() as folder:
            path = f"{folder}/c.safetensors"
            work()
            with self.assertRaisesRegex(fast.UsageError, "stateful="):
                work(resume=path)

    def test_a_kept_one_goes_on_where_a_session_resumes(self):
        def work(steps, path=None, **options):
            model, optimizer = training(0.25)
            scheduler = kinds.StepLR(optimizer, 30, 0.5)
            stateful = {"schedule": scheduler}
            with fast.join(model, optimizer, stateful=stateful, budget=100, **options) as session:
                schedule.follow(scheduler, session, 300)
                for step in range(steps):
                    if step == 40 and path:
                        session.save_checkpoint(path)
                    model(torch.ones(1, 2)).square().mean().backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    session.exchange()
                    scheduler.step()
            return rate_of(optimizer)

        with support.temporary_folder() as folder:
            path = f"{folder}/c.safetensors"
            self.assertTrue(math.isclose(work(55, path), 0.25 / 2**5))
            self.assertTrue(math.isclose(work(15, resume=path), 0.25 / 2**5))


if __name__ == "__main__":
    unittest.main()
