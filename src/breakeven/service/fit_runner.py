"""Fits of beliefs to their labels, in a process beside the service; only parameters come back.

The stream adopts them in a turn of its own, and so they are in its log. A fit that was lost, with its process
or because it took too long, is tried again once there are more labels.
"""

import logging

from breakeven.learner import FitJob, run_fit
from breakeven.service.background import Repeating
from breakeven.service.live_stream import Folded, LiveStream
from breakeven.service.worker_process import WorkerLost, WorkerProcess, WorkFailed

logger = logging.getLogger(__name__)

FITTER = "fitter"  # who fits, in the log
FIT_SECONDS = 600.0  # after which a fit is given up
GROWTH_TO_RETRY = 1.1  # of the number of labels, after a fit that was lost


class FitRunner(Repeating):
    """Runs the fits that are due, one at a time."""

    def __init__(self, limit: float = FIT_SECONDS) -> None:
        self.process = WorkerProcess(limit)
        self._lost: dict[str, int] = {}  # labels of the fit that was lost, by stream

    async def stop(self) -> None:
        """Leave no process behind."""
        self.process.end()
        await super().stop()

    async def look(self, live: LiveStream) -> None:
        """Run the fit that is due, if one is."""
        if live.state != "ready" or not self._is_due(live):
            return
        job, _ = await live.look("fit_job", _job)
        try:
            found = await self.process.run(run_fit, job)
        except (WorkerLost, WorkFailed) as error:
            self._lost[live.name] = job.labels
            logger.warning("stream %r: a fit to %d labels was lost (%s)", live.name, job.labels, error)
            return
        self._lost.pop(live.name, None)

        def adopt(folded: Folded) -> None:
            folded.learner.adopt(found)

        await live.change(FITTER, "adopt", adopt)

    def _is_due(self, live: LiveStream) -> bool:
        learner, lost = live.ready.learner, self._lost.get(live.name)
        if lost is None:
            return learner.fit_due
        return learner.state.belief.labels >= GROWTH_TO_RETRY * lost


def _job(folded: Folded) -> FitJob:
    return folded.learner.fit_job()
