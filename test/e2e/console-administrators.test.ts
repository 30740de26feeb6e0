import { expect, it } from "vitest";
import { describeWithBrowser } from "../support/browser.ts";
import { ADMIN_KEY } from "../support/use-admin.ts";
import { goTo, saved, signIn, useConsole } from "../support/use-console.ts";

const PASSWORD = "a password of eight and more";

describeWithBrowser("administrators in the console", () => {
  const app = useConsole();

  it("adds one, who signs in by name and password and may do what the role allows", async () => {
    const page = await app.at("administrators");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Add administrator" }).first().click();
    await dialog.getByLabel("Name to sign in with").fill("ada");
    await dialog.getByLabel("Full name").fill("Ada Lovelace");
    await dialog.getByLabel("Role").selectOption("operator");
    await dialog.getByLabel("Password", { exact: true }).fill("short");
    await dialog.getByRole("button", { name: "Add administrator" }).click();
    await dialog.getByText("must have at least 8 characters").waitFor();
    await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await dialog.getByRole("button", { name: "Add administrator" }).click();
    await saved(dialog);
    await page.getByRole("row", { name: /Ada Lovelace.*Operator.*Password/ }).waitFor();

    const own = await app.open();
    await own.getByLabel("Name").fill("ada");
    await signIn(own, PASSWORD);
    await own.getByText("Signed in as ada (operator)").waitFor();
    const administrators = own.getByRole("navigation").getByRole("link", { name: "Administrators" });
    await administrators.waitFor({ state: "detached" });
    await goTo(own, "administrators");
    await own.getByText("this needs the role owner").waitFor();
    await goTo(own, "teams");
    await own.getByRole("button", { name: "Add team" }).first().click();
    await own.getByLabel("ID", { exact: true }).fill("of-ada");
    await own.getByRole("dialog").getByRole("button", { name: "Add team" }).click();
    await saved(own.getByRole("dialog"));
    await goTo(own, "audit");
    await own
      .getByRole("row")
      .filter({ hasText: "POST /admin/teams" })
      .getByText("ada", { exact: true })
      .waitFor();

    // An operator reads no keys, and makes one for the playground.
    await goTo(own, "playground");
    expect(await own.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await own.getByRole("button", { name: "Make a key for 1 hour" }).click();
    await own.getByText("Key made.").waitFor();
    await own.getByLabel("Message").fill("[[say:Hello, Ada.]]");
    await own.getByRole("button", { name: "Send", exact: true }).click();
    await own.getByText("Hello, Ada.", { exact: true }).waitFor();

    // Another role ends the session. The new one has it.
    const row = page.getByRole("row", { name: /Ada Lovelace/ });
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Role").selectOption("viewer");
    await dialog.getByRole("button", { name: "Save" }).click();
    await saved(dialog);
    await goTo(own, "usage");
    await own.getByLabel("Name").fill("ada");
    await own.getByLabel("Admin key or password").fill(PASSWORD);
    await own.getByRole("button", { name: "Sign in" }).click();
    await own.getByText("Signed in as ada (viewer)").waitFor();
    await goTo(own, "teams");
    const addTeam = own.getByRole("button", { name: "Add team" }).first();
    expect(await addTeam.isDisabled()).toBe(true);
    expect(await addTeam.getAttribute("title")).toContain("Viewers");

    // Another user does not land on the page of the former one.
    await own.getByRole("button", { name: "Sign out" }).click();
    await signIn(own, ADMIN_KEY);
    await own.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await administrators.waitFor();

    await row.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("Ada Lovelace is signed out").waitFor();
    await dialog.getByRole("button", { name: "Delete administrator" }).click();
    await row.waitFor({ state: "detached" });
  });

  it("offers the identity provider once it is configured, and comes back to the same page", async () => {
    const page = await app.at("administrators");
    expect(await (await app.open()).getByRole("link", { name: /Sign in with/ }).count()).toBe(0);
    await page.getByLabel("Issuer").fill("https://login.example.com");
    await page.getByLabel("Client id").fill("polygate");
    await page.getByLabel("Client secret", { exact: true }).fill("from the provider");
    await page.getByLabel("Label of the button").fill("Company account");
    await page.getByRole("button", { name: "Save identity provider" }).click();
    await page.getByText("Identity provider saved").waitFor();
    await page.getByText(/Empty: the stored one stays/).waitFor();
    expect(await page.getByLabel("Client secret", { exact: true }).inputValue()).toBe("");

    // The provider's part is played here: it sends the browser back with a token, as the gateway's callback does.
    await app.admin("POST", "/admin/administrators", { id: "grace", role: "owner", password: PASSWORD });
    const { body } = await app.admin("POST", "/admin/login", { name: "grace", password: PASSWORD }, null);
    const result = new URLSearchParams({ signed_in: String(body["token"]), expires_in: "3600" });
    const visitor = await app.open();
    await visitor.evaluate("location.hash = '#/keys'");
    await visitor.route("**/admin/oidc/start", (route) =>
      route.fulfill({ status: 302, headers: { location: `/admin#${result}` } }),
    );
    await visitor.getByRole("link", { name: "Sign in with Company account" }).click();
    await visitor.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await visitor.getByText("Signed in as grace (owner)").waitFor();
    expect(visitor.url()).not.toContain("signed_in");

    // A foreign link must not start a session.
    const victim = await app.open();
    await victim.goto(`/admin?foreign#${result}`);
    await victim.getByLabel("Admin key or password").waitFor();
    expect(victim.url()).not.toContain("signed_in");

    const refused = await app.open();
    const reason = "eve@example.com is no administrator here";
    await refused.route("**/admin/oidc/start", (route) =>
      route.fulfill({
        status: 302,
        headers: { location: `/admin#${new URLSearchParams({ sign_in_failed: reason })}` },
      }),
    );
    await refused.getByRole("link", { name: "Sign in with Company account" }).click();
    await refused.getByText(reason).waitFor();
    await app.admin("PUT", "/admin/oidc/settings", { issuer: "", client_id: "", client_secret: null });
    await app.admin("DELETE", "/admin/administrators/grace");
  });
});
