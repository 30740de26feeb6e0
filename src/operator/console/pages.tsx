import type { ComponentType } from "preact";
import { Accounts } from "./pages/accounts/accounts.tsx";
import { Alerts } from "./pages/alerts/alerts.tsx";
import { Audit } from "./pages/audit/audit.tsx";
import { Captures } from "./pages/captures/captures.tsx";
import { Connect } from "./pages/connect/connect.tsx";
import { History } from "./pages/history/history.tsx";
import { Hosting } from "./pages/hosting/hosting.tsx";
import { Keys } from "./pages/keys/keys.tsx";
import { Models } from "./pages/models/models.tsx";
import { Overview } from "./pages/overview/overview.tsx";
import { PageService } from "./pages/page-service/page-service.tsx";
import { Playground } from "./pages/playground/playground.tsx";
import { Providers } from "./pages/providers/providers.tsx";
import { Proxies } from "./pages/proxies/proxies.tsx";
import { SettingsPage } from "./pages/settings/settings.tsx";
import { Transfer } from "./pages/transfer/transfer.tsx";
import { Usage } from "./pages/usage/usage.tsx";
import type { IconName } from "./ui/icon.tsx";

/** A page of the console. Its id is part of the URL and the name of its icon. */
export interface ConsolePage {
  readonly id: IconName;
  readonly name: string;
  readonly view: ComponentType<{ readonly detail: string }>;
}

const overview: ConsolePage = { id: "overview", name: "Overview", view: Overview };

/** All pages, in the order of the navigation. */
export const NAVIGATION: readonly { readonly title: string; readonly pages: readonly ConsolePage[] }[] = [
  {
    title: "Monitor",
    pages: [
      overview,
      { id: "usage", name: "Usage", view: Usage },
      { id: "history", name: "History", view: History },
      { id: "captures", name: "Captures", view: Captures },
      { id: "alerts", name: "Alerts", view: Alerts },
      { id: "audit", name: "Audit", view: Audit },
    ],
  },
  {
    title: "Test",
    pages: [
      { id: "connect", name: "Connect", view: Connect },
      { id: "playground", name: "Playground", view: Playground },
      { id: "pages", name: "Web pages", view: PageService },
    ],
  },
  {
    title: "Configure",
    pages: [
      { id: "accounts", name: "Accounts", view: Accounts },
      { id: "keys", name: "Keys", view: Keys },
      { id: "providers", name: "Providers", view: Providers },
      { id: "proxies", name: "Proxies", view: Proxies },
      { id: "models", name: "Models", view: Models },
      { id: "settings", name: "Settings", view: SettingsPage },
    ],
  },
  {
    title: "Transfer",
    pages: [
      { id: "transfer", name: "Import and export", view: Transfer },
      { id: "hosting", name: "Hosting sync", view: Hosting },
    ],
  },
];

/** Returns the page with this id; the overview for an unknown id. */
export function findPage(id: string): ConsolePage {
  for (const { pages } of NAVIGATION) for (const page of pages) if (page.id === id) return page;
  return overview;
}
