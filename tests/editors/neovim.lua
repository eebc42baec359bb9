-- What a user of Neovim does with a program, by Neovim's own client: the results go to the file $RESULTS, as JSON.
-- Any error ends it with a status of its own, so that the test fails.

local results = {}
local patience = 100 * 1000

local function wait(what, is_it)
  local value
  local found = vim.wait(patience, function()
    value = is_it()
    return value
  end, 10)
  if not found then
    error("no " .. what)
  end
  return value
end

local function run()
  local buffer = vim.api.nvim_get_current_buf()
  local lenses = {}
  local id = vim.lsp.start_client({
    name = "silicon",
    cmd = { vim.env.SILICON, "lsp" },
    root_dir = vim.fn.getcwd(),
  })
  vim.lsp.buf_attach_client(buffer, id)

  local function ask(method, params)
    local answers = assert(vim.lsp.buf_request_sync(buffer, method, params, patience))
    local answer = assert(answers[id], "no answer to " .. method)
    if answer.err then
      error(method .. ": " .. vim.inspect(answer.err))
    end
    return answer.result
  end
  local function at(line, character)
    return {
      textDocument = vim.lsp.util.make_text_document_params(buffer),
      position = { line = line, character = character },
    }
  end
  local function diagnostics(count)
    return wait(count .. " findings", function()
      local found = vim.diagnostic.get(buffer)
      return #found == count and found
    end)
  end

  -- An error shows as a diagnostic of the buffer.
  results.first = diagnostics(1)
  results.hover = ask("textDocument/hover", at(5, 2)).contents.value
  results.definition = ask("textDocument/definition", at(5, 4))
  local symbols = ask("textDocument/documentSymbol", at(0, 0))
  results.symbols = vim.tbl_map(function(one) return one.name end, symbols)
  local items = ask("textDocument/completion", at(5, 4))
  results.completion = vim.tbl_map(function(one) return one.label end, items)

  -- The quick fix is applied as Neovim applies it.
  local params = at(5, 2)
  params.range = { start = params.position, ["end"] = params.position }
  params.context = { diagnostics = {} }
  local fixes = ask("textDocument/codeAction", params)
  results.fixes = vim.tbl_map(function(one) return one.title end, fixes)
  vim.lsp.util.apply_workspace_edit(fixes[1].edit, vim.lsp.get_client_by_id(id).offset_encoding)
  results.fixed = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  diagnostics(0)
  results.lenses = wait("verdicts", function()
    lenses = ask("textDocument/codeLens", at(0, 0)) or {}
    local titles = vim.tbl_map(function(one) return one.command.title end, lenses)
    local waiting = vim.tbl_filter(function(title) return not title:find("ms") end, titles)
    return #titles > 0 and #waiting == 0 and titles
  end)

  -- Renamed everywhere, by the edits of the server.
  local rename = at(1, 11)
  rename.newName = "cell"
  local edit = ask("textDocument/rename", rename)
  vim.lsp.util.apply_workspace_edit(edit, vim.lsp.get_client_by_id(id).offset_encoding)
  results.renamed = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

  -- Typed by hand, behind a character of two units: wrong, and right again.
  vim.api.nvim_buf_set_lines(buffer, -1, -1, false, { "/* 𝔘 */ method k() { assert 1 == 2 }" })
  results.typed = diagnostics(1)
  vim.api.nvim_buf_set_lines(buffer, -2, -1, false, {})
  diagnostics(0)

  vim.lsp.stop_client(id)
  wait("end of the server", function() return vim.lsp.client_is_stopped(id) end)
end

local is_done, why = xpcall(run, debug.traceback)
results.error = not is_done and why or nil
local file = assert(io.open(vim.env.RESULTS, "w"))
file:write(vim.json and vim.json.encode(results) or vim.fn.json_encode(results))
file:close()
vim.cmd(is_done and "qall!" or "cquit 1")
