// Starts `silicon lsp` for the languages of the extension.
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

const LANGUAGES = ["viper", "sil", "chalice", "spl"];

let client: LanguageClient | undefined;

/** A client with the present settings, not started. */
function made(): LanguageClient {
  const settings = vscode.workspace.getConfiguration("silicon");
  const cache = settings.get<string>("cache", "");
  const args = cache === "" ? ["lsp"] : ["lsp", "--cache", cache];
  const server = { command: settings.get<string>("path", "silicon"), args };
  return new LanguageClient("silicon", "Silicon", server, {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    initializationOptions: {
      verify: settings.get("verify"),
      hints: settings.get("hints"),
      hoverStates: settings.get("hoverStates"),
    },
  });
}

async function start(): Promise<void> {
  const started = made();
  client = started;
  try {
    await started.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(`Silicon does not start: ${error}`, "Settings");
    if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "silicon.path");
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

/** Has the server do something with the text at work. */
async function order(command: string): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri && client) await client.sendRequest("workspace/executeCommand", { command, arguments: [uri.toString()] });
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("silicon.verifyFile", () => order("silicon.verify")),
    vscode.commands.registerCommand("silicon.stopFile", () => order("silicon.cancel")),
    vscode.commands.registerCommand("silicon.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("silicon")) return;
      await stop();
      await start();
    }),
  );
  await start();
}

export const deactivate = stop;
