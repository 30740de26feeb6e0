import type { CDPSession } from "@cloudflare/puppeteer";

/** By these the browser tells what a page writes to its console and what goes wrong in it. */
const TELLING: ReadonlySet<string> = new Set(["Runtime.enable", "Log.enable"]);

/**
 * Has the browser keep to itself what a page writes to its console. The library asks for it wherever it attaches, although nobody here reads it, and a
 * page can write gigabytes. To be called before the library's own commands.
 */
export function mute(session: CDPSession): void {
  const send = session.send.bind(session);
  const sendUnlessTelling = (...command: Parameters<CDPSession["send"]>): Promise<unknown> =>
    TELLING.has(command[0]) ? Promise.resolve({}) : send(...command);
  Object.defineProperty(session, "send", { value: sendUnlessTelling });
}
