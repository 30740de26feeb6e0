import { Page, Panel } from "../../ui/page.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { texts } from "./texts.ts";

/** Page that shows how clients connect to this gateway. */
export function Connect() {
  return (
    <Page title={texts.connect} lead={texts.lead}>
      <Panel>
        <ConnectPanel />
      </Panel>
    </Page>
  );
}
