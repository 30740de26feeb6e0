import type { Endpoint } from "../../core/routing/endpoint.ts";
import { ACCOUNT_BULK_ENDPOINTS } from "./account-bulk.ts";
import { ACCOUNT_ENDPOINTS } from "./account-edit.ts";
import { ACCOUNT_TEST_ENDPOINTS, SESSION_ENDPOINTS } from "./account-test.ts";
import { TEST_ALL_ENDPOINTS } from "./account-test-all.ts";
import { ACCOUNT_LIST_ENDPOINTS } from "./accounts.ts";
import { ACTIVITY_ENDPOINTS } from "./activity.ts";
import { ADMINISTRATOR_ENDPOINTS } from "./administrators.ts";
import { ALERT_ENDPOINTS } from "./alerts.ts";
import { API_TEST_ENDPOINTS } from "./api-test.ts";
import { AUDIT_ENDPOINTS } from "./audit.ts";
import { withDeletionAudit } from "./audit-recording.ts";
import { BULK_IMPORT_ENDPOINTS } from "./bulk-import.ts";
import { CAPTURE_ENDPOINTS } from "./captures.ts";
import { EXPORT_ENDPOINTS } from "./config-export.ts";
import { IMPORT_ENDPOINTS } from "./config-import.ts";
import { CONFIG_ENDPOINTS } from "./config-update.ts";
import { CONFIG_VERSION_ENDPOINTS } from "./config-versions.ts";
import { ERASURE_ENDPOINTS } from "./erasure.ts";
import { GUARDRAIL_ENDPOINTS } from "./guardrails.ts";
import { HISTORY_ENDPOINTS } from "./history.ts";
import { HOSTING_CREDENTIAL_ENDPOINTS } from "./hosting-credentials.ts";
import { HOSTING_STATUS_ENDPOINTS } from "./hosting-status.ts";
import { HOSTING_SYNC_ENDPOINTS } from "./hosting-sync.ts";
import { KEY_ENDPOINTS } from "./keys.ts";
import { KNOWN_MODEL_ENDPOINTS } from "./known-models.ts";
import { LOGIN_ENDPOINTS } from "./login.ts";
import { METRICS_ENDPOINTS } from "./metrics.ts";
import { MODEL_ROUTE_ENDPOINTS } from "./model-routes.ts";
import { OIDC_ENDPOINTS } from "./oidc.ts";
import { PAGE_LINK_ENDPOINTS } from "./page-links.ts";
import { PASSWORD_ENDPOINTS } from "./password.ts";
import { PROVIDER_MODEL_ENDPOINTS } from "./provider-models.ts";
import { PROVIDER_ENDPOINTS } from "./providers.ts";
import { PROXY_ENDPOINTS, PROXY_LIST_ENDPOINTS } from "./proxies.ts";
import { PROXY_TEST_ENDPOINTS } from "./proxy-test.ts";
import { QUEUE_ENDPOINTS } from "./queue.ts";
import { SAMPLE_ENDPOINTS } from "./raw-samples.ts";
import { SETTINGS_ENDPOINTS } from "./settings.ts";
import { SUBJECT_ENDPOINTS } from "./subjects.ts";
import { TELEMETRY_ENDPOINTS } from "./telemetry.ts";
import { USAGE_ENDPOINTS } from "./usage.ts";
import { VERSION_ENDPOINTS } from "./version.ts";

/** Every endpoint of the admin API. */
export const ADMIN_ENDPOINTS = [
  ...LOGIN_ENDPOINTS,
  ...HOSTING_CREDENTIAL_ENDPOINTS,
  ...HOSTING_SYNC_ENDPOINTS,
  ...HOSTING_STATUS_ENDPOINTS,
  ...CONFIG_ENDPOINTS,
  ...IMPORT_ENDPOINTS,
  ...EXPORT_ENDPOINTS,
  ...CONFIG_VERSION_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...SETTINGS_ENDPOINTS,
  ...MODEL_ROUTE_ENDPOINTS,
  ...PASSWORD_ENDPOINTS,
  ...ADMINISTRATOR_ENDPOINTS,
  ...OIDC_ENDPOINTS,
  ...KEY_ENDPOINTS,
  ...SUBJECT_ENDPOINTS,
  ...ERASURE_ENDPOINTS,
  ...PAGE_LINK_ENDPOINTS,
  ...PROXY_LIST_ENDPOINTS,
  ...PROXY_TEST_ENDPOINTS,
  ...PROXY_ENDPOINTS,
  ...ACCOUNT_LIST_ENDPOINTS,
  ...ACCOUNT_BULK_ENDPOINTS,
  ...ACCOUNT_TEST_ENDPOINTS,
  ...TEST_ALL_ENDPOINTS,
  ...withDeletionAudit(SESSION_ENDPOINTS),
  ...ACCOUNT_ENDPOINTS,
  ...QUEUE_ENDPOINTS,
  ...KNOWN_MODEL_ENDPOINTS,
  ...PROVIDER_MODEL_ENDPOINTS,
  ...PROVIDER_ENDPOINTS,
  ...BULK_IMPORT_ENDPOINTS,
  ...API_TEST_ENDPOINTS,
  ...withDeletionAudit(SAMPLE_ENDPOINTS),
  ...withDeletionAudit(CAPTURE_ENDPOINTS),
  ...withDeletionAudit(HISTORY_ENDPOINTS),
  ...METRICS_ENDPOINTS,
  ...TELEMETRY_ENDPOINTS,
  ...USAGE_ENDPOINTS,
  ...ACTIVITY_ENDPOINTS,
  ...ALERT_ENDPOINTS,
  ...GUARDRAIL_ENDPOINTS,
  ...VERSION_ENDPOINTS,
] satisfies readonly Endpoint[];
