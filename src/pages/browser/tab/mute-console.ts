import type { CDPSession } from "@cloudflare/puppeteer";

/** The commands that make the browser report console messages and errors of a page. */
const REPORTING_COMMANDS: ReadonlySet<string> = new Set(["Runtime.enable", "Log.enable"]);

/**
 * Stops the browser from reporting a page's console messages. The library enables the reports wherever it attaches, but
 * this program does not use them, and a page can write gigabytes. Call it before the library's own commands.
 */
export function muteConsole(session: CDPSession): void {
  const send = session.send.bind(session);
  const sendUnlessReporting = (...command: Parameters<CDPSession["send"]>): Promise<unknown> =>
    REPORTING_COMMANDS.has(command[0]) ? Promise.resolve({}) : send(...command);
  Object.defineProperty(session, "send", { value: sendUnlessReporting });
}
