import type { texts as api } from "../api/texts.ts";
import type { texts as keyPage } from "../key-page/texts.ts";
import type { texts as accounts } from "../pages/accounts/texts.ts";
import type { texts as administrators } from "../pages/administrators/texts.ts";
import type { texts as alerts } from "../pages/alerts/texts.ts";
import type { texts as audit } from "../pages/audit/texts.ts";
import type { texts as captures } from "../pages/captures/texts.ts";
import type { texts as connect } from "../pages/connect/texts.ts";
import type { texts as guardrails } from "../pages/guardrails/texts.ts";
import type { texts as history } from "../pages/history/texts.ts";
import type { texts as hosting } from "../pages/hosting/texts.ts";
import type { texts as keys } from "../pages/keys/texts.ts";
import type { texts as models } from "../pages/models/texts.ts";
import type { texts as overview } from "../pages/overview/texts.ts";
import type { texts as pageService } from "../pages/page-service/texts.ts";
import type { texts as playground } from "../pages/playground/texts.ts";
import type { texts as providers } from "../pages/providers/texts.ts";
import type { texts as proxies } from "../pages/proxies/texts.ts";
import type { texts as settings } from "../pages/settings/texts.ts";
import type { texts as teams } from "../pages/teams/texts.ts";
import type { texts as transfer } from "../pages/transfer/texts.ts";
import type { texts as usage } from "../pages/usage/texts.ts";
import type { texts as shared } from "../shared/texts.ts";
import type { texts as shell } from "../texts.ts";
import type { words } from "../ui/words.ts";

/** The texts of each page. A translation has all of them; `texts.test.ts` finds a page that is missing here. */
export interface PageTexts {
  readonly api: typeof api;
  readonly words: typeof words;
  readonly shell: typeof shell;
  readonly keyPage: typeof keyPage;
  readonly accounts: typeof accounts;
  readonly administrators: typeof administrators;
  readonly alerts: typeof alerts;
  readonly audit: typeof audit;
  readonly captures: typeof captures;
  readonly connect: typeof connect;
  readonly guardrails: typeof guardrails;
  readonly history: typeof history;
  readonly hosting: typeof hosting;
  readonly keys: typeof keys;
  readonly models: typeof models;
  readonly overview: typeof overview;
  readonly pageService: typeof pageService;
  readonly playground: typeof playground;
  readonly providers: typeof providers;
  readonly proxies: typeof proxies;
  readonly settings: typeof settings;
  readonly shared: typeof shared;
  readonly teams: typeof teams;
  readonly transfer: typeof transfer;
  readonly usage: typeof usage;
}

export type Translation = PageTexts;
