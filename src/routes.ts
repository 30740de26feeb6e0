import {
  accountTestSchema,
  deleteSessions,
  deleteSessionsSchema,
  testOneAccount,
} from "./admin/account-test.ts";
import { testAllAccounts, testAllSchema, testAllStatus } from "./admin/account-test-all.ts";
import {
  accountChangeSchema,
  accountListSchema,
  addAccount,
  bindProxy,
  changeAccount,
  deleteAccount,
  listAccounts,
  newAccountSchema,
  proxyBindingSchema,
} from "./admin/accounts.ts";
import { apiTestSchema, testApi } from "./admin/api-test.ts";
import { bulkImport, bulkImportSchema } from "./admin/bulk-import.ts";
import { clearCaptures, listCaptures, readCapture } from "./admin/captures.ts";
import { exportConfig, exportShort } from "./admin/config-export.ts";
import { importConfig, importQuerySchema, importSchema } from "./admin/config-import.ts";
import { configUpdateSchema, readConfig, updateConfig } from "./admin/config-update.ts";
import {
  changeHistorySettings,
  clearHistory,
  deleteHistory,
  historyListSchema,
  historySettingsSchema,
  listHistory,
  readHistory,
} from "./admin/history.ts";
import { hostingConfig } from "./admin/hosting-credentials.ts";
import { hostingDraftStatus, hostingStatus, hostingStatusSchema } from "./admin/hosting-status.ts";
import { hostingSync, hostingSyncSchema } from "./admin/hosting-sync.ts";
import { addKey, deleteKey, keyLabelsSchema, newKeySchema, renameKey } from "./admin/keys.ts";
import { changePassword, login, loginSchema, passwordSchema, verify } from "./admin/login.ts";
import { metrics } from "./admin/metrics.ts";
import {
  addProxy,
  changeProxy,
  deleteProxy,
  listProxies,
  newProxySchema,
  proxyChangeSchema,
} from "./admin/proxies.ts";
import { proxyTestSchema, testProxy } from "./admin/proxy-test.ts";
import { queueStatus } from "./admin/queue.ts";
import {
  captureSample,
  deleteSample,
  listSamples,
  querySamples,
  readSample,
  sampleCaptureSchema,
  sampleQuerySchema,
  sampleSaveSchema,
  saveSample,
} from "./admin/raw-samples.ts";
import { changeSettings, readSettings, settingsSchema } from "./admin/settings.ts";
import { version } from "./admin/version.ts";
import { createEmbeddings, embeddingsRequestSchema } from "./api/embeddings/handler.ts";
import { readFile, uploadFile } from "./api/files/handler.ts";
import { healthz, readyz } from "./api/health.ts";
import { getModel, listModels } from "./api/models.ts";
import { chatCompletions } from "./dialects/chat-completions/handler.ts";
import { chatRequestSchema } from "./dialects/chat-completions/request.ts";
import { contentAction } from "./dialects/content-generation/handler.ts";
import { contentModel, contentModels } from "./dialects/content-generation/models.ts";
import { contentRequestSchema } from "./dialects/content-generation/request.ts";
import { countTokens, messages } from "./dialects/messages/handler.ts";
import { messageModel, messageModels } from "./dialects/messages/models.ts";
import { messageRequestSchema } from "./dialects/messages/request.ts";
import { runnerChat, runnerGenerate } from "./dialects/model-runner/handler.ts";
import { runnerShow, runnerTags, runnerVersion } from "./dialects/model-runner/models.ts";
import { chatSchema, generateSchema } from "./dialects/model-runner/request.ts";
import { createResponse, readResponse } from "./dialects/responses/handler.ts";
import { responsesRequestSchema } from "./dialects/responses/request.ts";
import type { RouteFamily } from "./errors/gateway-error.ts";
import { MESSAGE_PREFIXES } from "./http/vendor-names.ts";
import { home } from "./pages/home/handler.ts";
import { technologiesQuerySchema, thumbnailQuerySchema } from "./pages/query-schemas.ts";
import { technologies } from "./pages/technologies/handler.ts";
import { thumbnail } from "./pages/thumbnails/handler.ts";
import type { Handler } from "./platform/context.ts";
import { openApi } from "./routing/openapi.ts";
import type { Access, Method, Route } from "./routing/router.ts";

function route(
  family: RouteFamily,
  method: Method,
  path: string,
  access: Access,
  handler: Handler,
  summary: string,
  schemas: Pick<Route, "body" | "query"> = {},
): Route {
  return { family, method, path, access, handler, summary, ...schemas };
}

/** A route of the chat family under `/v1` and its root shortcut (contract, general rule 6). */
function withShortcut(
  method: Method,
  path: string,
  access: Access,
  handler: Handler,
  summary: string,
  schemas: Pick<Route, "body" | "query"> = {},
): Route[] {
  return [`/v1${path}`, path].map((full) => route("chat", method, full, access, handler, summary, schemas));
}

const open: Route[] = [
  route("chat", "GET", "/healthz", "none", healthz, "Liveness probe"),
  route("chat", "GET", "/readyz", "none", readyz, "Readiness probe"),
  route(
    "chat",
    "GET",
    "/openapi.json",
    "none",
    openApi(() => ROUTES),
    "This description",
  ),
];

const chat: Route[] = [
  ...withShortcut("POST", "/chat/completions", "caller", chatCompletions, "Create a chat completion", {
    body: chatRequestSchema,
  }),
  ...withShortcut("POST", "/responses", "caller", createResponse, "Create a response", {
    body: responsesRequestSchema,
  }),
  ...withShortcut("GET", "/responses/:response_id", "caller", readResponse, "Read a stored response"),
  ...withShortcut("POST", "/embeddings", "caller", createEmbeddings, "Create embeddings", {
    body: embeddingsRequestSchema,
  }),
  ...withShortcut("POST", "/files", "caller", uploadFile, "Upload a file"),
  ...withShortcut("GET", "/files/:file_id", "caller", readFile, "Read a file's status"),
  ...withShortcut("GET", "/models", "none", listModels, "List the canonical models"),
  ...withShortcut("GET", "/models/:id+", "none", getModel, "Read a model by id or alias"),
];

const message: Route[] = [
  ...["/v1/messages", "/messages", ...MESSAGE_PREFIXES.map((prefix) => `${prefix}/v1/messages`)].flatMap(
    (path) => [
      route("messages", "POST", path, "caller", messages, "Create a message", { body: messageRequestSchema }),
      route(
        "messages",
        "POST",
        `${path}/count_tokens`,
        "caller",
        countTokens,
        "Count the tokens of a message",
        { body: messageRequestSchema },
      ),
    ],
  ),
  ...MESSAGE_PREFIXES.flatMap((prefix) => [
    route("messages", "GET", `${prefix}/v1/models`, "none", messageModels, "List the message-style models"),
    route("messages", "GET", `${prefix}/v1/models/:id+`, "none", messageModel, "Read a message-style model"),
  ]),
];

const content: Route[] = [
  // `:generateContent` and the others: the router cannot split at the last colon, the handler does.
  ...["/v1beta", "/v1"].map((version) =>
    route("content", "POST", `${version}/models/:id+`, "caller", contentAction, "Generate content", {
      body: contentRequestSchema,
    }),
  ),
  route("content", "GET", "/v1beta/models", "none", contentModels, "List the models"),
  route("content", "GET", "/v1beta/models/:id+", "none", contentModel, "Read a model by id or alias"),
];

const modelRunner: Route[] = [
  route("runner", "GET", "/api/version", "none", runnerVersion, "Version of the runner API"),
  route("runner", "GET", "/api/tags", "none", runnerTags, "List the models"),
  route("runner", "POST", "/api/show", "none", runnerShow, "Describe a model"),
  route("runner", "POST", "/api/chat", "caller", runnerChat, "Chat", { body: chatSchema }),
  route("runner", "POST", "/api/generate", "caller", runnerGenerate, "Complete a prompt", {
    body: generateSchema,
  }),
];

const pageService: Route[] = [
  route("page", "GET", "/", "none", home, "Public page"),
  route("page", "GET", "/v1/thumbs", "none", thumbnail, "Screenshot of a web page", {
    query: thumbnailQuerySchema,
  }),
  route(
    "page",
    "GET",
    "/v1/technologies",
    "none",
    technologies,
    "Technologies that a web page is built with",
    { query: technologiesQuerySchema },
  ),
];

const administration: Route[] = [
  route("admin", "POST", "/admin/login", "none", login, "Sign in with the admin key", { body: loginSchema }),
  route("admin", "GET", "/admin/verify", "jwt", verify, "Check a token"),
  route("admin", "GET", "/admin/hosting/config", "admin", hostingConfig, "Hosting credentials"),
  route(
    "admin",
    "POST",
    "/admin/hosting/sync",
    "admin",
    hostingSync,
    "Send the configuration to the hosting platform",
    { body: hostingSyncSchema },
  ),
  route(
    "admin",
    "GET",
    "/admin/hosting/status",
    "admin",
    hostingStatus,
    "Drift from the hosted configuration",
  ),
  route(
    "admin",
    "POST",
    "/admin/hosting/status",
    "admin",
    hostingDraftStatus,
    "Drift of a draft from the hosted configuration",
    { body: hostingStatusSchema },
  ),
  route("admin", "GET", "/admin/config", "admin", readConfig, "Masked configuration"),
  route("admin", "POST", "/admin/config", "admin", updateConfig, "Update keys, accounts and aliases", {
    body: configUpdateSchema,
  }),
  route("admin", "POST", "/admin/config/import", "admin", importConfig, "Import a configuration", {
    body: importSchema,
    query: importQuerySchema,
  }),
  route("admin", "GET", "/admin/config/export", "admin", exportConfig, "Export the configuration"),
  route("admin", "GET", "/admin/export", "admin", exportShort, "Export the configuration (short form)"),
  route("admin", "GET", "/admin/settings", "admin", readSettings, "Runtime settings"),
  route("admin", "PUT", "/admin/settings", "admin", changeSettings, "Change runtime settings", {
    body: settingsSchema,
  }),
  route("admin", "POST", "/admin/settings/password", "admin", changePassword, "Change the admin password", {
    body: passwordSchema,
  }),
  route("admin", "POST", "/admin/keys", "admin", addKey, "Add an API key", { body: newKeySchema }),
  route("admin", "PUT", "/admin/keys/:key", "admin", renameKey, "Rename an API key", {
    body: keyLabelsSchema,
  }),
  route("admin", "DELETE", "/admin/keys/:key", "admin", deleteKey, "Delete an API key"),
  route("admin", "GET", "/admin/proxies", "admin", listProxies, "List the proxies"),
  route("admin", "POST", "/admin/proxies", "admin", addProxy, "Add a proxy", { body: newProxySchema }),
  route("admin", "POST", "/admin/proxies/test", "admin", testProxy, "Test a proxy", {
    body: proxyTestSchema,
  }),
  route("admin", "PUT", "/admin/proxies/:proxyID", "admin", changeProxy, "Change a proxy", {
    body: proxyChangeSchema,
  }),
  route("admin", "DELETE", "/admin/proxies/:proxyID", "admin", deleteProxy, "Delete a proxy"),
  route("admin", "GET", "/admin/accounts", "admin", listAccounts, "List the accounts", {
    query: accountListSchema,
  }),
  route("admin", "POST", "/admin/accounts", "admin", addAccount, "Add an account", {
    body: newAccountSchema,
  }),
  route("admin", "POST", "/admin/accounts/test", "admin", testOneAccount, "Test one account", {
    body: accountTestSchema,
  }),
  route("admin", "POST", "/admin/accounts/test-all", "admin", testAllAccounts, "Test all accounts", {
    body: testAllSchema,
  }),
  route(
    "admin",
    "GET",
    "/admin/accounts/test-all/status",
    "admin",
    testAllStatus,
    "Progress of the test of all accounts",
  ),
  route(
    "admin",
    "POST",
    "/admin/accounts/sessions/delete-all",
    "admin",
    deleteSessions,
    "Delete an account's sessions",
    { body: deleteSessionsSchema },
  ),
  route("admin", "PUT", "/admin/accounts/:identifier", "admin", changeAccount, "Rename an account", {
    body: accountChangeSchema,
  }),
  route("admin", "DELETE", "/admin/accounts/:identifier", "admin", deleteAccount, "Delete an account"),
  route(
    "admin",
    "PUT",
    "/admin/accounts/:identifier/proxy",
    "admin",
    bindProxy,
    "Bind an account to a proxy",
    { body: proxyBindingSchema },
  ),
  route("admin", "GET", "/admin/queue/status", "admin", queueStatus, "Slots and waiting queue"),
  route("admin", "POST", "/admin/import", "admin", bulkImport, "Import keys and accounts", {
    body: bulkImportSchema,
  }),
  route("admin", "POST", "/admin/test", "admin", testApi, "Send a test message through the gateway", {
    body: apiTestSchema,
  }),
  route(
    "admin",
    "POST",
    "/admin/dev/raw-samples/capture",
    "admin",
    captureSample,
    "Capture a raw upstream stream",
    { body: sampleCaptureSchema },
  ),
  route("admin", "GET", "/admin/dev/raw-samples/query", "admin", querySamples, "Search the captures", {
    query: sampleQuerySchema,
  }),
  route("admin", "POST", "/admin/dev/raw-samples/save", "admin", saveSample, "Save captures as a sample", {
    body: sampleSaveSchema,
  }),
  route("admin", "GET", "/admin/dev/raw-samples", "admin", listSamples, "List the saved samples"),
  route("admin", "GET", "/admin/dev/raw-samples/:sample_id", "admin", readSample, "Read a saved sample"),
  route(
    "admin",
    "DELETE",
    "/admin/dev/raw-samples/:sample_id",
    "admin",
    deleteSample,
    "Delete a saved sample",
  ),
  route("admin", "GET", "/admin/dev/captures", "admin", listCaptures, "List the captures"),
  route("admin", "GET", "/admin/dev/captures/:id", "admin", readCapture, "Read a capture"),
  route("admin", "DELETE", "/admin/dev/captures", "admin", clearCaptures, "Clear the captures"),
  route("admin", "GET", "/admin/chat-history", "admin", listHistory, "List the history", {
    query: historyListSchema,
  }),
  route("admin", "DELETE", "/admin/chat-history", "admin", clearHistory, "Clear the history"),
  route(
    "admin",
    "PUT",
    "/admin/chat-history/settings",
    "admin",
    changeHistorySettings,
    "Set the history's retention",
    { body: historySettingsSchema },
  ),
  route("admin", "GET", "/admin/chat-history/:id", "admin", readHistory, "Read a history record"),
  route("admin", "DELETE", "/admin/chat-history/:id", "admin", deleteHistory, "Delete a history record"),
  route("admin", "GET", "/admin/metrics", "admin", metrics, "Metrics in Prometheus' text format"),
  route("admin", "GET", "/admin/version", "admin", version, "Build and latest release"),
];

/** Every route of the API: the table of contents of the program. What is asked most comes first. */
export const ROUTES: readonly Route[] = [
  ...chat,
  ...message,
  ...content,
  ...open,
  ...modelRunner,
  ...pageService,
  ...administration,
];
