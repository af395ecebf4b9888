// Uses the types that openapi-typescript generated from the OpenAPI document.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { env: Record<string, string> };

const baseUrl = process.env.URL!;
const client = createClient<paths>({ baseUrl, headers: { "X-API-Key": process.env.KEY! } });

function must(holds: unknown, what: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(what));
}

const board = await client.GET("/leaderboard/traders", { params: { query: { period: "30d", limit: 3 } } });
must(board.data, board.error);
const rows: components["schemas"]["TraderRow"][] = board.data.data;
must(rows.length === 3 && board.data.plan === "trader" && board.data.period === "30d", board.data);
const address = rows[0]!.address;

const stats = await client.GET("/trader/{address}/stats", { params: { path: { address } } });
must(stats.data?.data.address === address && stats.data.data.trades > 0, stats);

let seen = 0;
let truncated = false;
for (let cursor: string | undefined; ; ) {
  const page = await client.GET("/trader/{address}/trades", { params: { path: { address }, query: { limit: 20, cursor } } });
  must(page.data, page.error);
  seen += page.data.data.length;
  truncated = page.data.truncated;
  if (page.data.next_cursor === null) break;
  cursor = page.data.next_cursor;
}
must(truncated || seen === stats.data.data.trades, { seen });

const job = await client.POST("/research/export-jobs", { body: { dataset: "markets" }, params: {} });
must(job.data?.data?.kind === "research", job);

// Errors are a union by status; the type of each has the codes that are possible.
const bad = await client.GET("/leaderboard/traders", { params: { query: { limit: 0 } } });
must(bad.error && bad.error.status === 400, bad);
const code: "invalid_parameter" | "unknown_parameter" | "invalid_request" = bad.error.code;
must(code === "invalid_parameter" && bad.error.param === "limit" && bad.error.plan === "trader", bad);

const nobody = await client.GET("/trader/{address}/stats", { params: { path: { address: "0x" + "0".repeat(39) + "1" } } });
must(nobody.error?.status === 404 && nobody.error.code === "trader_not_found", nobody);

const stranger = createClient<paths>({ baseUrl, headers: { "X-API-Key": "pmx_" + "A".repeat(43) } });
const refused = await stranger.GET("/leaderboard/traders");
must(refused.error?.status === 401 && refused.error.code === "invalid_api_key", refused);
