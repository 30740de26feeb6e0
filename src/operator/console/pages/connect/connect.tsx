import { Page, Panel } from "../../ui/page.tsx";
import { ConnectPanel } from "./connect-panel.tsx";

/** Page that shows how clients connect to this gateway. */
export function Connect() {
  return (
    <Page title="Connect" lead="Addresses and snippets for SDKs, agents and curl.">
      <Panel>
        <ConnectPanel />
      </Panel>
    </Page>
  );
}
