import { setTimeout as sleep } from "node:timers/promises";
import { ending, until } from "../gateway-under-test.ts";
import type { Part } from "../part.ts";

/** Adds and deletes accounts and changes limits and keys while requests use them. */
export const edits: Part = {
  name: "edits",
  what: "configuration edits and account deletions under load",
  full: 2_000,
  short: 60,
  site: {
    driver: "sessions",
    accounts: 0,
    perAccount: 2,
    plan: { text: "word ".repeat(20).trim(), eventEvery: 10 },
    editable: true,
  },
  run: async ({ site, count, random }) => {
    let done = false;
    let wrong = 0;
    let answers = 0;
    let refused = 0;
    await settings(site, { auto_delete: { mode: "single" } });
    const load = until(
      () => done,
      12,
      async () => {
        const how = ending(await site.ask({ stream: random() < 0.6 }));
        if (how === "whole") answers += 1;
        else if (how === "failure") refused += 1;
        else wrong += 1;
        if (how !== "whole") await sleep(20);
      },
    );
    for (let n = 0; n < count; n += 1) {
      await sleep(random() * 60);
      const email = `coming-${Math.floor(random() * 6)}@sandbox.test`;
      const dice = random();
      let answer: Response;
      if (dice < 0.35) answer = await site.admin("/admin/accounts", "POST", { email, password: "sandbox" });
      else if (dice < 0.7) answer = await site.admin(`/admin/accounts/${email}`, "DELETE");
      else if (dice < 0.85) {
        const runtime = { account_max_inflight: 1 + Math.floor(random() * 4), global_max_inflight: 0 };
        answer = await settings(site, { runtime });
      } else
        answer = await site.admin("/admin/keys", "POST", { key: `sk-campaign-${Math.floor(random() * 20)}` });
      await answer.text();
      if (answer.status >= 500) wrong += 1;
    }
    done = true;
    await load;
    return { wrong, note: `${answers} whole answers, ${refused} that tell of a failure` };
  },
};

const settings = (
  site: { admin(path: string, method: string, body: unknown): Promise<Response> },
  body: unknown,
) => site.admin("/admin/settings", "PUT", body);
