"""A server's counters, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ringsmith.service.database import JobRecord

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)


class Metrics:
    """Counters of one server."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        self._began = Counter("ringsmith_jobs_accepted", "Jobs accepted", ["program"], registry=own)
        self._ended = Counter(
            "ringsmith_jobs_ended", "Jobs ended", ["program", "state", "code"], registry=own
        )
        self._seconds = Histogram(
            "ringsmith_job_seconds",
            "From a job's acceptance to its end",
            ["program"],
            buckets=_SECONDS,
            registry=own,
        )
        self._device = Histogram(
            "ringsmith_device_seconds",
            "Of a device, for one job",
            ["program"],
            buckets=_SECONDS,
            registry=own,
        )
        self._requests = Counter(
            "ringsmith_http_requests", "HTTP requests", ["method", "route", "status"], registry=own
        )
        self._bytes = Counter("ringsmith_http_bytes", "Bytes of bodies", ["way"], registry=own)
        self.waiting = Gauge("ringsmith_jobs_waiting", "Jobs in the queue", registry=own)
        self.running = Gauge("ringsmith_jobs_running", "Jobs in workers", registry=own)
        self.workers = Gauge("ringsmith_workers_ready", "Workers that can work", registry=own)
        self.storage = Gauge(
            "ringsmith_storage_works", "Whether the database can be used", registry=own
        )

    def job_began(self, job: JobRecord) -> None:
        """Counts an accepted job."""
        self._began.labels(job.program).inc()

    def job_ended(self, job: JobRecord, device: float, whole: float) -> None:
        """Counts a job that has ended, with its device seconds and its total seconds."""
        self._ended.labels(job.program, job.state.value, job.code).inc()
        self._seconds.labels(job.program).observe(whole)
        if device:
            self._device.labels(job.program).observe(device)

    def request_ended(self, method: str, route: str, status: int, taken: int, given: int) -> None:
        """Counts an answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._bytes.labels("in").inc(taken)
        self._bytes.labels("out").inc(given)

    def text(self) -> bytes:
        """Returns all counters in Prometheus' format."""
        return generate_latest(self._registry)
