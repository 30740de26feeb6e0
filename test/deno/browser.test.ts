import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { afterEach, expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { DenoGateway } from "../support/deno.ts";
import { type LocalServer, serve } from "../support/local-server.ts";
import { html } from "../support/pages.ts";
import { browsers, descendants, renderers } from "../support/processes.ts";

describeWithBrowser("the browser of a gateway on Deno", () => {
  let site: LocalServer;
  let gateway: DenoGateway;
  afterEach(async () => {
    await gateway?.close();
    await site?.close();
  });

  const lives = (pid: number) => existsSync(`/proc/${pid}`);

  it("ends after a while without pages, and starts again for the next one", async () => {
    site = await serve((_, response) => html(response, "hello"));
    gateway = await DenoGateway.start({
      vars: { PAGE_PRIVATE_HOSTS: site.host, DNS_OVER_HTTPS_URL: "off", BROWSER_KEEP_ALIVE_MS: "1500" },
    });
    for (const path of ["/first", "/second"]) {
      const answer = await gateway.fetch(`/v1/thumbs/?url=${encodeURIComponent(site.origin + path)}`);
      expect([path, answer.status]).toEqual([path, 200]);
      expect(browsers()).toHaveLength(1);
      await expect.poll(() => browsers().length, { timeout: 5_000 }).toBe(0);
    }
  });

  it("yields to the gateway on a busy processor", async () => {
    site = await serve((_, response) => html(response, "hello"));
    gateway = await DenoGateway.start({ vars: { PAGE_PRIVATE_HOSTS: site.host, DNS_OVER_HTTPS_URL: "off" } });
    expect((await gateway.fetch(`/v1/thumbs/?url=${encodeURIComponent(site.origin)}`)).status).toBe(200);
    // Field 19 of proc(5), behind the name in brackets. (The browser's main process sets its own.)
    const priorities = renderers().map(({ pid }) => {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
    });
    expect(priorities.length).toBeGreaterThan(0);
    expect(Math.min(...priorities)).toBe(Math.min(19, getPriority() + 5));
  });

  it("is replaced when it hangs without going away", { timeout: 90_000 }, async () => {
    site = await serve((_, response) => html(response, "hello"));
    gateway = await DenoGateway.start({ vars: { PAGE_PRIVATE_HOSTS: site.host, DNS_OVER_HTTPS_URL: "off" } });
    const thumbs = (path: string) =>
      gateway.fetch(`/v1/thumbs/?url=${encodeURIComponent(site.origin + path)}`);
    expect((await thumbs("/first")).status).toBe(200);
    const [first] = browsers();
    process.kill(first?.pid ?? 0, "SIGSTOP");
    expect((await thumbs("/second")).status).toBe(200);
    await expect.poll(() => browsers().some(({ pid }) => pid === first?.pid)).toBe(false);
  });

  it.each([
    ["SIGKILL", false],
    ["SIGTERM", false],
    // A terminal or a service manager may end a whole process group.
    ["SIGTERM", true],
  ] as const)(
    "ends with the gateway, and leaves no files, after %s (to the browser's processes, too: %s)",
    async (signal, isForGroup) => {
      site = await serve((_, response) => html(response, "hello"));
      gateway = await DenoGateway.start({
        vars: { PAGE_PRIVATE_HOSTS: site.host, DNS_OVER_HTTPS_URL: "off" },
      });
      const answer = await gateway.fetch(`/v1/thumbs/?url=${encodeURIComponent(site.origin)}`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        200,
        expect.stringMatching(/^image\//),
      ]);
      const pids = browsers().map(({ pid }) => pid);
      expect(pids).toHaveLength(1);
      const command = readFileSync(`/proc/${pids[0]}/cmdline`, "utf8");
      const profile = /--user-data-dir=([^\0]+)/.exec(command)?.[1] ?? "";
      expect(existsSync(profile)).toBe(true);
      const group = descendants().filter(
        ({ command }) => command === "cat" || command.includes(profile) || command.includes(" keeper "),
      );
      if (isForGroup) {
        expect(group.length).toBeGreaterThanOrEqual(3);
        for (const { pid } of group) process.kill(pid, signal);
      }
      await gateway.end(signal);
      await expect.poll(() => pids.some(lives), { timeout: 5_000 }).toBe(false);
      await expect.poll(() => existsSync(profile), { timeout: 5_000 }).toBe(false);
    },
  );
});
