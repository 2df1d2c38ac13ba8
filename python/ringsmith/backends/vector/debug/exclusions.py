"""Points of the RTL that no program of the coverage campaign can reach, each rule with its reason.

The rules hold for ``campaign.campaign_design``: fields of fixed width are wider than so small a
design needs. A rule that excludes what is reached is found out by the tests.
"""

from ringsmith.hdl.coverage import Exclusion

EXCLUSIONS: tuple[Exclusion, ...] = ()
