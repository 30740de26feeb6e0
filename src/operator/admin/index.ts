import type { Endpoint } from "../../core/routing/endpoint.ts";
import { ACCOUNT_BULK_ENDPOINTS } from "./accounts/account-bulk.ts";
import { ACCOUNT_ENDPOINTS } from "./accounts/account-edit.ts";
import { ACCOUNT_TEST_ENDPOINTS, SESSION_ENDPOINTS } from "./accounts/account-test.ts";
import { TEST_ALL_ENDPOINTS } from "./accounts/account-test-all.ts";
import { ACCOUNT_LIST_ENDPOINTS } from "./accounts/accounts.ts";
import { ADMINISTRATOR_ENDPOINTS } from "./administrators/administrators.ts";
import { LOGIN_ENDPOINTS } from "./administrators/login.ts";
import { OIDC_ENDPOINTS } from "./administrators/oidc.ts";
import { PASSWORD_ENDPOINTS } from "./administrators/password.ts";
import { API_TEST_ENDPOINTS } from "./api-test.ts";
import { AUDIT_ENDPOINTS } from "./configuration/audit.ts";
import { BULK_IMPORT_ENDPOINTS } from "./configuration/bulk-import.ts";
import { EXPORT_ENDPOINTS } from "./configuration/config-export.ts";
import { IMPORT_ENDPOINTS } from "./configuration/config-import.ts";
import { CONFIG_ENDPOINTS } from "./configuration/config-update.ts";
import { CONFIG_VERSION_ENDPOINTS } from "./configuration/config-versions.ts";
import { SETTINGS_ENDPOINTS } from "./configuration/settings.ts";
import { withDeletionAudit } from "./editing/audit-recording.ts";
import { GUARDRAIL_ENDPOINTS } from "./guardrails.ts";
import { CAPTURE_ENDPOINTS } from "./history/captures.ts";
import { ERASURE_ENDPOINTS } from "./history/erasure.ts";
import { HISTORY_ENDPOINTS } from "./history/history.ts";
import { SAMPLE_ENDPOINTS } from "./history/raw-samples.ts";
import { HOSTING_CREDENTIAL_ENDPOINTS } from "./hosting/hosting-credentials.ts";
import { HOSTING_STATUS_ENDPOINTS } from "./hosting/hosting-status.ts";
import { HOSTING_SYNC_ENDPOINTS } from "./hosting/hosting-sync.ts";
import { KEY_ENDPOINTS } from "./keys/keys.ts";
import { PAGE_LINK_ENDPOINTS } from "./keys/page-links.ts";
import { SUBJECT_ENDPOINTS } from "./keys/subjects.ts";
import { MODEL_ROUTE_ENDPOINTS } from "./models/model-routes.ts";
import { ROUTE_ORDER_ENDPOINTS } from "./models/route-order.ts";
import { ACTIVITY_ENDPOINTS } from "./monitoring/activity.ts";
import { ALERT_ENDPOINTS } from "./monitoring/alerts.ts";
import { METRICS_ENDPOINTS } from "./monitoring/metrics.ts";
import { QUEUE_ENDPOINTS } from "./monitoring/queue.ts";
import { TELEMETRY_ENDPOINTS } from "./monitoring/telemetry.ts";
import { USAGE_ENDPOINTS } from "./monitoring/usage.ts";
import { KNOWN_MODEL_ENDPOINTS } from "./providers/known-models.ts";
import { PROVIDER_MODEL_ENDPOINTS } from "./providers/provider-models.ts";
import { PROVIDER_ENDPOINTS } from "./providers/providers.ts";
import { PROXY_ENDPOINTS, PROXY_LIST_ENDPOINTS } from "./providers/proxies.ts";
import { PROXY_TEST_ENDPOINTS } from "./providers/proxy-test.ts";
import { VERSION_ENDPOINTS } from "./version.ts";

/** Every endpoint of the admin API. */
export const ADMIN_ENDPOINTS = withDeletionAudit([
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
  ...ROUTE_ORDER_ENDPOINTS,
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
  ...SESSION_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...QUEUE_ENDPOINTS,
  ...KNOWN_MODEL_ENDPOINTS,
  ...PROVIDER_MODEL_ENDPOINTS,
  ...PROVIDER_ENDPOINTS,
  ...BULK_IMPORT_ENDPOINTS,
  ...API_TEST_ENDPOINTS,
  ...SAMPLE_ENDPOINTS,
  ...CAPTURE_ENDPOINTS,
  ...HISTORY_ENDPOINTS,
  ...METRICS_ENDPOINTS,
  ...TELEMETRY_ENDPOINTS,
  ...USAGE_ENDPOINTS,
  ...ACTIVITY_ENDPOINTS,
  ...ALERT_ENDPOINTS,
  ...GUARDRAIL_ENDPOINTS,
  ...VERSION_ENDPOINTS,
] satisfies readonly Endpoint[]);
