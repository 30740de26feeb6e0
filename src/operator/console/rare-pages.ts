/** Pages that are opened less often. They are one file of the build, which loads with the first of them. */
export { Administrators } from "./pages/administrators/administrators.tsx";
export { GuardrailsPage } from "./pages/guardrails/guardrails.tsx";
export { Hosting } from "./pages/hosting/hosting.tsx";
export { PageService } from "./pages/page-service/page-service.tsx";
export { Playground } from "./pages/playground/playground.tsx";
export { SettingsPage } from "./pages/settings/settings.tsx";
export { Teams } from "./pages/teams/teams.tsx";
export { Transfer } from "./pages/transfer/transfer.tsx";
export { Usage } from "./pages/usage/usage.tsx";
