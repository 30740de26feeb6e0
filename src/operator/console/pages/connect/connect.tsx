import { ConnectPanel } from "../../shared/connect-panel.tsx";
import { Page, Panel } from "../../ui/page.tsx";
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
