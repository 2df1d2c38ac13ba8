"""What ``/v1/status`` counts: jobs of the last minute, and what jobs took."""

from ringsmith.service.app import latency_of
from ringsmith.service.schemas import Latency
from ringsmith.service.state import LastMinute, Timing


def test_the_last_minute_is_counted_whole_however_many_jobs_it_had() -> None:
    done = LastMinute()
    for i in range(6000):  # 100 a second
        done.add(1000 + i / 100)
    assert done.count(1059.99) == 6000
    assert done.count(1090) == 2900  # of 1,031 to 1,059
    assert done.count(1120) == 0


def test_a_clock_that_is_set_back_loses_no_job() -> None:
    done = LastMinute()
    for now in (1000.0, 990.0, 1001.0):
        done.add(now)
    assert done.count(1001) == 3


def test_latency_is_the_median_and_the_99th_percentile_of_each_part() -> None:
    timings = [Timing(i, 2 * i, 3 * i) for i in range(1, 201)]
    assert latency_of(timings) == Latency(
        count=200,
        p50=301.5,
        p99=597,
        queue_p50=100.5,
        queue_p99=199,
        device_p50=201,
        device_p99=398,
    )
    assert latency_of([]).p99 == 0
