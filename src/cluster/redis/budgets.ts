/**
 * Limits that hold for all replicas together. A few times in a second, each replica says in Redis
 * how much it could use of each, and gets its part. No call waits for that.
 *
 * What must always hold: the parts of all replicas that Redis knows are not more than the limit,
 * except for the moment in which a replica comes in or goes. A part that is given back is in
 * nobody's hands before its calls have ended. Every replica has a small part, also one that needs
 * nothing, so that its first call waits for nobody. Without Redis, each replica has an equal part
 * by the last known number of replicas.
 */
import { createHmac } from "node:crypto";
import type { BudgetUser, SharedBudget } from "../../lib/structures/shared-budget.ts";
import { clusterKey } from "../owners.ts";
import type { Redis } from "./redis.ts";

export interface RedisBudgetsOptions {
  readonly redis: Redis;
  readonly prefix: string;
  readonly secret: string;
  readonly self: string;
  /** How many replicas there are, as far as is known. */
  readonly replicas: () => number;
  readonly warn: (message: string) => void;
}

const TICK_MS = 250;
/** A replica that is silent for this long has no share. */
const KEPT_MS = 2000;
/** The busiest budgets that take part; others have equal parts. */
const MAX_BUDGETS = 500;
/** For each budget: limit, demand, use, and 1 if it is counted in whole numbers. */
const SCRIPT = `local self, kept = ARGV[1], tonumber(ARGV[2])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local out = {}
for i, key in ipairs(KEYS) do
  local at = 3 + (i - 1) * 4
  local limit, demand, inUse = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local isWhole = ARGV[at + 3] == "1"
  local all, held, sum = {{self, demand}}, 0, demand
  local found = redis.call("HGETALL", key)
  for j = 1, #found, 2 do
    local wants, holds, till = string.match(found[j + 1], "^([%d.]+) ([%d.]+) (%d+)$")
    if found[j] ~= self then
      if tonumber(wants) and tonumber(holds) and tonumber(till) > now and tonumber(till) <= now + kept then
        all[#all + 1] = {found[j], tonumber(wants)}
        held, sum = held + tonumber(holds), sum + tonumber(wants)
      else redis.call("HDEL", key, found[j]) end
    end
  end
  local least = limit / (8 * #all)
  if isWhole then least = limit >= #all and math.max(1, math.floor(least)) or 0 end
  local rest = limit - least * #all
  local part, left = 0, rest
  for _, one in ipairs(all) do
    one[3] = sum > 0 and rest * one[2] / sum or rest / #all
    if isWhole then one[4] = one[3] - math.floor(one[3]); one[3] = math.floor(one[3]) end
    left = left - one[3]
  end
  if isWhole then
    table.sort(all, function(a, b) return a[4] > b[4] or (a[4] == b[4] and a[1] < b[1]) end)
    for k = 1, math.min(left, #all) do all[k][3] = all[k][3] + 1 end
  end
  for _, one in ipairs(all) do if one[1] == self then part = least + one[3] end end
  part = math.min(part, math.max(0, limit - held))
  redis.call("HSET", key, self, demand .. " " .. math.max(part, inUse) .. " " .. string.format("%.0f", now + kept))
  redis.call("PEXPIRE", key, kept)
  out[i] = tostring(part)
end
return out`;

export class RedisBudgets {
  readonly #options: RedisBudgetsOptions;
  readonly #key: Buffer;
  readonly #timer: NodeJS.Timeout;
  #user: BudgetUser | undefined;
  #isAsking = false;
  #replicas = 1;
  #problem = "";
  /** How often in a row a budget of places got none that was needed. */
  #waits = new Map<string, number>();

  constructor(options: RedisBudgetsOptions) {
    this.#options = options;
    this.#key = clusterKey(options.secret, "budgets");
    this.#timer = setInterval(() => void this.#ask(), TICK_MS).unref();
  }

  use(user: BudgetUser): void {
    this.#user = user;
    user.split(this.#replicas);
  }

  /** Redis does not answer. */
  down(): void {
    this.#user?.split(this.#replicas);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    const { redis, self, replicas } = this.#options;
    if (this.#isAsking || !this.#user || !redis.isReady) return;
    this.#isAsking = true;
    try {
      const count = Math.max(1, replicas());
      if (count !== this.#replicas) this.#user.split(count);
      this.#replicas = count;
      const budgets = this.#busiest(this.#user.budgets());
      if (budgets.length === 0) return;
      const keys = budgets.map(({ name }) => this.#named(name));
      const figures = budgets.flatMap(({ name, limit, demand, inUse, isWhole }) => [
        limit,
        (demand + (this.#waits.get(name) ?? 0)).toFixed(3),
        inUse,
        isWhole ? 1 : 0,
      ]);
      const reply = await redis.command("EVAL", SCRIPT, keys.length, ...keys, self, KEPT_MS, ...figures);
      const parts = Array.isArray(reply) ? reply.map(Number) : [];
      const waits = new Map<string, number>();
      for (const [i, budget] of budgets.entries()) {
        const part = this.#bounded(parts[i], budget);
        if (budget.isWhole && part < 1 && budget.demand > 0)
          waits.set(budget.name, (this.#waits.get(budget.name) ?? 0) + 1);
        budget.grant(part);
      }
      this.#waits = waits;
      this.#problem = "";
    } catch (error) {
      this.#failed((error as Error).message);
    } finally {
      this.#isAsking = false;
    }
  }

  /** Whatever Redis says, a replica keeps a little, and gets no more than the limit. */
  #bounded(part: number | undefined, { limit, isWhole }: SharedBudget): number {
    const given = part !== undefined && part >= 0 ? Math.min(part, limit) : limit / this.#replicas;
    const least = limit / (8 * this.#replicas);
    if (!isWhole) return Math.max(given, least);
    return Math.max(Math.floor(given), limit >= this.#replicas ? Math.max(1, Math.floor(least)) : 0);
  }

  #busiest(budgets: readonly SharedBudget[]): readonly SharedBudget[] {
    if (budgets.length <= MAX_BUDGETS) return budgets;
    return [...budgets].sort((a, b) => b.demand - a.demand).slice(0, MAX_BUDGETS);
  }

  /** That Redis is gone, it says itself. */
  #failed(problem: string): void {
    this.#user?.split(this.#replicas);
    if (problem === this.#problem || !this.#options.redis.isReady) return;
    this.#problem = problem;
    this.#options.warn(`limits are not shared with other replicas now, each has an equal part: ${problem}`);
  }

  #named(name: string): string {
    const digest = createHmac("sha256", this.#key).update(name).digest("base64url").slice(0, 24);
    return `${this.#options.prefix}budget:${digest}`;
  }
}
