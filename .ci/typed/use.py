"""Uses the client that openapi-python-client generated from the OpenAPI document."""

import os

from pmx_client import AuthenticatedClient, Client
from pmx_client.api.export import create_research_export_jobs
from pmx_client.api.leaderboard import get_leaderboard_traders
from pmx_client.api.status import get_health
from pmx_client.api.trader import get_trader_stats, get_trader_trades
from pmx_client.api.weather import get_weather_cities
from pmx_client.models import GetLeaderboardTradersPeriod, ResearchExport, ResearchExportDataset

client = AuthenticatedClient(
    base_url=os.environ["URL"], token=os.environ["KEY"], prefix="", auth_header_name="X-API-Key",
    raise_on_unexpected_status=True,
)

board = get_leaderboard_traders.sync_detailed(client=client, period=GetLeaderboardTradersPeriod("30d"), limit=3)
assert board.status_code == 200 and board.parsed.plan == "trader" and board.parsed.period == "30d", board
rows = board.parsed.data
assert [r.rank for r in rows] == sorted(r.rank for r in rows) and len(rows) == 3, rows
again = get_leaderboard_traders.sync_detailed(
    client=client, period=GetLeaderboardTradersPeriod("30d"), limit=3, if_none_match=board.headers["etag"])
assert again.status_code == 304, again

stats = get_trader_stats.sync(rows[0].address, client=client)
assert stats.data.address == rows[0].address and stats.data.trades > 0, stats
seen, cursor = [], None
while True:
    page = get_trader_trades.sync(rows[0].address, client=client, limit=20, **({"cursor": cursor} if cursor else {}))
    seen += page.data
    cursor = page.next_cursor
    if cursor is None:
        break
assert len(seen) == stats.data.trades or page.truncated, (len(seen), stats.data.trades)
assert len(get_weather_cities.sync(client=client).data) > 0
assert get_health.sync(client=Client(base_url=os.environ["URL"])).data.status == "ok"
job = create_research_export_jobs.sync(client=client, body=ResearchExport(dataset=ResearchExportDataset.MARKETS))
assert job.data.kind == "research", job


def problem(answer, status, code):
    """Every error has a type of its own, with a code that programs can test."""
    p = answer.parsed
    assert (answer.status_code, p.status, p.code, p.title != "") == (status, status, code, True), answer
    assert p.instance == answer.headers["x-request-id"], p
    return p


p = problem(get_leaderboard_traders.sync_detailed(client=client, limit=0), 400, "invalid_parameter")
assert p.param == "limit" and p.plan == "trader", p
problem(get_trader_stats.sync_detailed("0x" + "0" * 39 + "1", client=client), 404, "trader_not_found")
stranger = AuthenticatedClient(
    base_url=os.environ["URL"], token="pmx_" + "A" * 43, prefix="", auth_header_name="X-API-Key")
problem(get_leaderboard_traders.sync_detailed(client=stranger), 401, "invalid_api_key")
