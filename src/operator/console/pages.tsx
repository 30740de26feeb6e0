import type { ComponentType } from "preact";
import { Accounts } from "./pages/accounts/accounts.tsx";
import { Alerts } from "./pages/alerts/alerts.tsx";
import { Audit } from "./pages/audit/audit.tsx";
import { Captures } from "./pages/captures/captures.tsx";
import { Connect } from "./pages/connect/connect.tsx";
import { History } from "./pages/history/history.tsx";
import { Keys } from "./pages/keys/keys.tsx";
import { Models } from "./pages/models/models.tsx";
import { Overview } from "./pages/overview/overview.tsx";
import { Providers } from "./pages/providers/providers.tsx";
import { Proxies } from "./pages/proxies/proxies.tsx";
import { texts } from "./texts.ts";
import type { IconName } from "./ui/icon.tsx";
import { lazyPage } from "./ui/loading/lazy-page.tsx";
import { words } from "./ui/words.ts";

/** A page of the console. Its id is part of the URL and the name of its icon. */
export interface ConsolePage {
  readonly id: IconName;
  readonly name: string;
  readonly view: ComponentType<{ readonly detail: string }>;
  /** The navigation shows the page to owners only: the gateway refuses others. */
  readonly ownersOnly?: true;
}

const rarePages = () => import("./rare-pages.ts");

const overview: ConsolePage = { id: "overview", name: texts.overview, view: Overview };

/** All pages, in the order of the navigation. */
export const NAVIGATION: readonly { readonly title: string; readonly pages: readonly ConsolePage[] }[] = [
  {
    title: texts.monitor,
    pages: [
      overview,
      {
        id: "usage",
        name: words.usage,
        view: lazyPage(async () => (await rarePages()).Usage),
      },
      { id: "history", name: words.history, view: History },
      { id: "captures", name: words.captures, view: Captures },
      { id: "alerts", name: texts.alerts, view: Alerts },
      { id: "audit", name: texts.audit, view: Audit },
    ],
  },
  {
    title: words.test,
    pages: [
      { id: "connect", name: texts.connect, view: Connect },
      {
        id: "playground",
        name: texts.playground,
        view: lazyPage(async () => (await rarePages()).Playground),
      },
      {
        id: "pages",
        name: texts.webPages,
        view: lazyPage(async () => (await rarePages()).PageService),
      },
    ],
  },
  {
    title: texts.configure,
    pages: [
      { id: "accounts", name: words.accounts, view: Accounts },
      { id: "keys", name: words.keys, view: Keys },
      {
        id: "teams",
        name: texts.teamsAndUsers,
        view: lazyPage(async () => (await rarePages()).Teams),
      },
      { id: "providers", name: words.providers, view: Providers },
      { id: "proxies", name: texts.proxies, view: Proxies },
      { id: "models", name: words.models, view: Models },
      {
        id: "administrators",
        name: texts.administrators,
        view: lazyPage(async () => (await rarePages()).Administrators),
        ownersOnly: true,
      },
      {
        id: "guardrails",
        name: texts.guardrails,
        view: lazyPage(async () => (await rarePages()).GuardrailsPage),
      },
      {
        id: "settings",
        name: texts.settings,
        view: lazyPage(async () => (await rarePages()).SettingsPage),
      },
    ],
  },
  {
    title: texts.transfer,
    pages: [
      {
        id: "transfer",
        name: texts.importAndExport,
        view: lazyPage(async () => (await rarePages()).Transfer),
      },
      {
        id: "hosting",
        name: words.hostingSync,
        view: lazyPage(async () => (await rarePages()).Hosting),
      },
    ],
  },
];

/** Returns the page with this id; the overview for an unknown id. */
export function findPage(id: string): ConsolePage {
  for (const { pages } of NAVIGATION) for (const page of pages) if (page.id === id) return page;
  return overview;
}
