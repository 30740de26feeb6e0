import { translate } from "../../language.ts";

export const texts = translate("hosting", {
  lead: "Writes the configuration to a project on Vercel and redeploys it.",
  inStep: "Up to date",
  changedSinceLastSync: "changed since the last sync",
  neverSynced: "never synced",
  lastSync: (lastSyncTime: string) => `Last sync: ${lastSyncTime}`,
  fromEnvironment: "from the environment",
  saved: "saved",
  syncFailed: "The sync failed.",
  emptyMeansOne: (sources: string, tokenPreview: string) =>
    `Empty: the token that is ${sources}, ${tokenPreview}`,
  known: "known",
  accessTokenVercelAccountSettings: "An access token of Vercel: Account Settings, Tokens.",
  sync: "Sync",
  formWasNotSent: "a form that was not sent",
  vercelAccessToken: "Vercel access token",
  projectId: "Project id",
  teamId: "Team id",
  onlyForTeamProjects: "Only for team projects.",
  signEveryAccountInFirst: "Sign in all accounts first",
  deploymentThenStartsWithValid: "The deployment then starts with valid tokens.",
  saveTheseCredentials: "Save these credentials",
  configurationWasSent: "The configuration was sent.",
  signedIn: (validatedAccounts: string) => `${validatedAccounts} signed in.`,
  syncAndDeploy: "Sync and deploy",
});
