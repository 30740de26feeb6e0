import { translate } from "../../language.ts";

export const texts = translate("hosting", {
  lead: "Writes the configuration to a project on Vercel and redeploys it.",
  upToDate: "Up to date",
  changedSinceLastSync: "changed since the last sync",
  neverSynced: "never synced",
  lastSync: (lastSyncTime: string) => `Last sync: ${lastSyncTime}`,
  fromEnvironment: "from the environment",
  saved: "saved",
  syncFailed: "The sync failed.",
  storedToken: (sources: string, tokenPreview: string) =>
    `Empty: the token that is ${sources}, ${tokenPreview}`,
  known: "known",
  accessTokenHint: "An access token of Vercel: Account Settings, Tokens.",
  sync: "Sync",
  unsavedForm: "a form that was not sent",
  vercelAccessToken: "Vercel access token",
  projectId: "Project id",
  teamId: "Team id",
  onlyForTeamProjects: "Only for team projects.",
  signInFirst: "Sign in all accounts first",
  signInHint: "The deployment then starts with valid tokens.",
  saveCredentials: "Save these credentials",
  sent: "The configuration was sent.",
  signedIn: (validatedAccounts: string) => `${validatedAccounts} signed in.`,
  syncAndDeploy: "Sync and deploy",
});
