;;; What a user of Emacs does with a program, by Eglot: the results go to the file $RESULTS, as JSON.  -*- lexical-binding: t -*-
;;; Any error ends it with a status of its own, so that the test fails.

(require 'eglot)
(require 'flymake)
(require 'json)

(define-derived-mode viper-mode prog-mode "Viper" (setq-local comment-start "// "))
(add-to-list 'auto-mode-alist '("\\.vpr\\'" . viper-mode))
(add-to-list 'eglot-server-programs (cons 'viper-mode (list (getenv "SILICON") "lsp")))

(defvar results nil)
(defun result (name value) (push (cons name value) results))

(defun await (what is-it)
  "Wait until IS-IT gives something, and give that."
  (let ((end (time-add nil 100)) value)
    (while (not (setq value (funcall is-it)))
      (when (time-less-p end nil) (error "No %s" what))
      (accept-process-output nil 0.02))
    value))

(defun findings (count)
  "Wait for COUNT diagnostics of Flymake, and give their texts."
  (await (format "%d findings" count)
         (lambda ()
           (let ((found (flymake-diagnostics)))
             (and (= (length found) count)
                  (vconcat (mapcar #'flymake-diagnostic-text found)))))))

(defun go-to (line column)
  (goto-char (point-min))
  (forward-line (1- line))
  (forward-char column))

(setq eglot-sync-connect 100
      eglot-connect-timeout 100
      eglot-autoshutdown t
      eglot-send-changes-idle-time 0.05
      flymake-no-changes-timeout 0.05
      eglot-confirm-server-initiated-edits nil)
(find-file (getenv "PROGRAM"))
(call-interactively #'eglot)
(await "server" #'eglot-current-server)
(flymake-mode 1)
(flymake-start)

;; An error shows as a diagnostic of Flymake.
(result 'first (findings 1))
(result 'kind (symbol-name (flymake-diagnostic-type (car (flymake-diagnostics)))))
(go-to 6 4)
(xref-find-definitions (thing-at-point 'symbol t))
(result 'definition (line-number-at-pos))
(go-to 6 2)
(let ((hover (jsonrpc-request (eglot--current-server-or-lose) :textDocument/hover
                              (eglot--TextDocumentPositionParams))))
  (result 'hover (plist-get (plist-get hover :contents) :value)))

;; The quick fix is applied as Eglot applies it.
(go-to 6 4)
(let* ((actions (jsonrpc-request
                 (eglot--current-server-or-lose) :textDocument/codeAction
                 (list :textDocument (eglot--TextDocumentIdentifier)
                       :range (list :start (eglot--pos-to-lsp-position) :end (eglot--pos-to-lsp-position))
                       :context '(:diagnostics []))))
       (first (elt actions 0)))
  (result 'fixes (vconcat (mapcar (lambda (it) (plist-get it :title)) actions)))
  (eglot--apply-workspace-edit (plist-get first :edit)))
(eglot--signal-textDocument/didChange)
(findings 0)
(result 'fixed (buffer-string))

;; Renamed everywhere.
(go-to 2 11)
(eglot-rename "cell")
(result 'renamed (buffer-string))

;; Typed by hand, behind a character of two units: wrong, and right again.
(goto-char (point-max))
(insert "/* 𝔘 */ method k() { assert 1 == 2 }\n")
(eglot--signal-textDocument/didChange)
(result 'typed (findings 1))
(result 'column (save-excursion
                  (goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
                  (current-column)))
(goto-char (point-max))
(forward-line -1)
(delete-region (point) (point-max))
(eglot--signal-textDocument/didChange)
(findings 0)
(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))
(with-temp-file (getenv "RESULTS")
  (insert (json-encode results)))
