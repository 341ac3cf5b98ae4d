package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"termic/internal/verb"
)

// samples are results as the app gives them, one or more for each verb, with the words that asked for them.
var samples = []struct{ line, result string }{
	{"list", `{"tasks":[
		{"id":"01A","name":"fix","project":"web","agent":"claude","branch":"feature/fix","state":"live","work_state":"needs_input","open_tabs":2,"diff":{"files_changed":3,"insertions":10,"deletions":2,"untracked":1}},
		{"id":"01B","name":"漢字","project":"web","agent":"codex","branch":"b","state":"creating"},
		{"id":"01C","name":"evil\u001b[31m","project":"api","agent":"","branch":"c","state":"live","diff_error":"git did not run"}]}`},
	{"list", `{"tasks":[]}`},
	{"status fix", `{"task":{"id":"01A","name":"fix","project":"web","agent":"claude","branch":"feature/fix","base_branch":"origin/main","path":"/w/fix","state":"live","sandbox":"off","work_state":"working","created":"2026-01-02T03:04:05Z","dirty_files":2,"warnings":["the fetch failed"],"tabs":[
		{"id":"T1","index":1,"kind":"agent","agent":"claude","title":"\u001b]0;x\u0007","state":"working","is_default":true,"live":true,"queued":1},
		{"id":"T2","index":2,"kind":"shell","title":"sh","live":false,"exit":{"code":2}},
		{"id":"T3","index":3,"kind":"shell","title":"sh","live":false,"exit":{"code":-1,"signal":"killed"}}]}}`},
	{"status fix", `{"task":{"id":"01A","name":"fix","project":"web","state":"live"}}`},
	{"new fix", `{"task":{"id":"01A","name":"fix","project":"web","branch":"feature/fix","path":"/w/fix"},"job":"01J"}`},
	{"new fix --wait -p x", `{"task":{"id":"01A","name":"fix","project":"web","branch":"b","path":"/w"},"wait":{"outcome":"needs_input","state":"needs_input","detail":"Allow?\n"}}`},
	{"send fix hi", `{"task_id":"01A","tab_id":"T1","mode":"delivered","prompt_id":"P","capable":true}`},
	{"send fix hi --wait", `{"task_id":"01A","tab_id":"T1","mode":"queued","prompt_id":"P","capable":false,"wait":{"outcome":"timeout"}}`},
	{"send fix hi --fresh", `{"task_id":"01A","mode":"spawned","capable":true}`},
	{"wait fix", `{"task_id":"01A","outcome":"done","state":"done"}`},
	{"wait fix", `{"task_id":"01A","outcome":"not_delivered"}`},
	{"result fix", `{"task_id":"01A","agent":"claude","transcript":"/t.jsonl","text":"All done.\nReally."}`},
	{"result fix", `{"task_id":"01A","agent":"claude","transcript":"/t.jsonl","text":"long","truncated":true}`},
	{"logs fix", `{"task_id":"01A","tab_id":"T1","source":"agent","data":"\u001b[1mbold\u001b[0m\r\n","truncated":true,"total":300000}`},
	{"diff fix", `{"task_id":"01A","base":"origin/main","files_changed":2,"insertions":5,"deletions":1,"untracked":1,"files":[
		{"path":"a b.go","status":"modified","insertions":4,"deletions":1},{"path":"new.bin","status":"untracked","binary":true},
		{"path":"to.go","old_path":"from.go","status":"renamed","insertions":1}],"commits":[{"id":"0123456789abcdef","subject":"x: y\u001b[0m"}]}`},
	{"diff fix --full", `{"task_id":"01A","base":"main","files":[],"commits":[],"diff":"--- a\n+++ b\n","truncated":true,"diff_bytes":999999}`},
	{"open fix", `{"task_id":"01A","raised":true}`},
	{"open fix", `{"raised":false}`},
	{"link termic://open/fix", `{"kind":"open","task_id":"01A"}`},
	{"link termic://new?name=fix", `{"kind":"new"}`},
	{"rename fix --name fox", `{"task":{"name":"fox"},"old_name":"fix"}`},
	{"apply fix -y", `{"task_id":"01A","tracked_files":1,"untracked_files":2}`},
	{"apply fix -y", `{"task_id":"01A","tracked_files":2,"untracked_files":0,"conflicts":["a.go","b.go"]}`},
	{"stage fix a.go b", `{"task_id":"01A","paths":["a.go","b\u001b[31m"],"warnings":["sub is a submodule and was not staged"]}`},
	{"stage fix --all --unstage", `{"task_id":"01A","paths":["a.go"],"undo":"01D"}`},
	{"discard fix a.go -y", `{"task_id":"01A","undo":"01D","paths":["a.go"],"kept":[]}`},
	{"discard fix --undo last", `{"task_id":"01A","undone":"01D","paths":["a.go","b.go"],"kept":[]}`},
	{"discard fix", `{"task_id":"01A","paths":[],"kept":[{"id":"01E","time":"2026-01-02T03:04:05Z","paths":["a.go","b\nc"],"files":30},{"id":"01D","time":"2026-01-02T03:04:05Z","paths":["a.go"],"files":1,"unstaged":true}]}`},
	{"discard fix", `{"task_id":"01A","paths":[],"kept":[]}`},
	{"commit fix -m x", `{"task_id":"01A","commit":"0123456789abcdef","branch":"feature/fix","subject":"x","files":2,"warnings":["Hooks do not run here: pre-commit"]}`},
	{"edit fix a.go:7", `{"task_id":"01A","editor":"code","path":"/w/fix/a.go","line":7,"warnings":["A caged agent writes this folder."]}`},
	{"edit fix", `{"task_id":"01A","editor":"vim","path":"/w/fix","tab_id":"T4"}`},
	{"commit fix -m x", `{"task_id":"01A","commit":"0123456789abcdef","subject":"x","files":1}`},
	{"archive fix -y", `{"task_id":"01A","name":"fix","project":"web","killed_agents":1,"backup_ref":"refs/termic/backup/1"}`},
	{"restore fix", `{"task":{"name":"fix","project":"web","path":"/w/fix"}}`},
	{"stop fix -y", `{"task_id":"01A","ended":2}`},
	{"sandbox fix", `{"task_id":"01A","mode":"enforce","cage":{"mcp":true,"projects":["web","api"],"agents":[],"read":["/opt/sdk"],"write":[],"hosts":["example.com"]},"ended":0,
		"layers":[{"kind":"task","read":["/opt/sdk"],"hosts":["example.com"]},{"kind":"repo","write":["/srv/data"]}]}`},
	{"sandbox fix --mode enforce-fs -y", `{"task_id":"01A","mode":"enforce-fs","cage":{"mcp":false,"projects":[],"agents":[],"read":[],"write":[],"hosts":["example.com"]},"ended":0}`},
	{"sandbox fix --mode off -y", `{"task_id":"01A","mode":"monitor","cage":{"mcp":false,"projects":[],"agents":["claude"],"read":[],"write":[],"hosts":[]},"ended":2,"warnings":["The sandbox mode is monitor, as .termic.yaml of the project asks"]}`},
	{"sandbox allow fix --host example.com", `{"task_id":"01A","kind":"host","target":"example.com","for":"task","changed":true,"restart":true}`},
	{"tab set fix --tab 2 --name helper --pin", `{"task_id":"01A","tab":{"id":"01T","index":2,"kind":"agent","title":"helper","is_default":false,"named":true,"pinned":true,"live":true,"queued":0}}`},
	{"tab reopen fix", `{"task_id":"01A","tab_id":"01T","agent":"fake","title":"Fake agent"}`},
	{"move fix --position 2", `{"task_id":"01A","name":"fix","position":2}`},
	{"project move web --position 1", `{"id":"01P","name":"web","position":1}`},
	{"sandbox groups", `{"groups":[{"name":"@forges","doc":"Code forges","hosts":["a.example","*.b.example"]},{"name":"@registries","doc":"Tools","hosts":[],"notes":["npm did not answer."]}]}`},
	{"sandbox allow fix --read /a --for project", `{"task_id":"01A","kind":"read","target":"/a","for":"project","changed":false,"restart":false}`},
	{"status fix", `{"task":{"id":"01A","name":"fix","project":"web","state":"live","tabs":[{"id":"T1","index":1,"kind":"agent","agent":"claude","title":"Claude","state":"idle","live":true,"cage":{"mode":"enforce","since":"2026-01-02T03:04:05Z","notes":["The port 18103 of this task is in use."]}}],"denials":[
		{"kind":"host","target":"evil.example:443","count":3,"last":"2026-01-02T03:04:05Z"},{"kind":"write","target":"/etc/x","count":1,"last":"2026-01-02T03:04:05Z","would_deny":true}]}}`},
	{"client list", `{"clients":[{"id":"claude","name":"Claude Code","installed":true,"version":"2.1.332","usable":true,"offered":true,"file":"/h/.claude.json","registered":true,"ok":true},
		{"id":"codex","name":"Codex","installed":true,"version":"0.171.0","usable":true,"offered":true,"file":"/h/.codex/config.toml","registered":true,"ok":false,"stale":["The endpoint has moved from port 1 to 2"]},
		{"id":"gemini","name":"Gemini CLI","installed":true,"version":"0.61.0","usable":false,"why":"It is too old.","offered":false,"file":"/h/.gemini/settings.json","registered":false,"ok":false},
		{"id":"zed","name":"Zed","installed":false,"usable":false,"why":"x","offered":false,"file":"/h/z","registered":false,"ok":false,"problem":"/h/z is not JSON","fix":"Mend it."}]}`},
	{"client show codex", `{"client":{"id":"codex","name":"Codex","block":{"where":"/h/.codex/config.toml","language":"toml","text":"[mcp_servers.termic]"}},"act":"add","file":"/h/.codex/config.toml","target":"/dot/config.toml","diff":"+[mcp_servers.termic]\n","notes":["A note."],"losses":["A comment of yours"],"digest":"d"}`},
	{"client show claude", `{"client":{"id":"claude","name":"Claude Code"},"act":"add","file":"/h/.claude.json","runs":[["claude","mcp","add-json","termic","{}"]],"digest":"d"}`},
	{"client register codex", `{"client":{"id":"codex","name":"Codex"},"act":"add","file":"/h/c","backup":"/h/c.bak","verify":{"id":"codex","ok":true,"summary":"Codex would connect: termic 1 answers with 19 tools","steps":[]}}`},
	{"client unregister codex", `{"client":{"id":"codex","name":"Codex"},"act":"remove","file":"/h/c"}`},
	{"client verify codex", `{"id":"codex","ok":false,"summary":"Nothing answers at port 1","hint":"Switch the endpoint on.","steps":[{"name":"connect","ok":false,"words":"x"}]}`},
	{"send fix hi", `{"mode":"accepted"}`},
	{"send web/fix-it hi", `{"task_id":"01A","mode":"queued","capable":true,"state":"needs_input","detail":"Overwrite a.txt?"}`},
	{"send fix hi", `{"task_id":"01A","mode":"queued","capable":true,"state":"working"}`},
	{"new fix", `{"task":{"project":"web","name":"fix","id":"01A","state":"creating"}}`},
	{"tab fix", `{"task_id":"01A","tab_id":"T2","agent":"codex","title":"Codex","prompt":{"task_id":"01A","mode":"spawned","capable":true}}`},
	{"tab fix --kind terminal", `{"task_id":"01A","tab_id":"T3","title":"Terminal","warnings":["A caged agent writes this folder."]}`},
	{"tab close fix --tab 2", `{"task_id":"01A","tab_id":"T2","title":"sh","tab_kind":"shell","was_default":false,"killed_pty":true}`},
	{"agents", `{"agents":[{"id":"claude","name":"Claude Code","kind":"builtin","enabled":true,"installed":true,"usable":true},
		{"id":"mine","name":"Mine","kind":"custom","enabled":false,"usable":false,"reason":"it is switched off"}]}`},
	{"prompts", `{"prompts":[{"id":"builtin:review","title":"Review","builtin":true,"enabled":true}]}`},
	{"prompts", `{"prompts":[]}`},
	{"prompts builtin:review", `{"prompts":[{"id":"builtin:review","title":"Review","builtin":true,"enabled":true,"body":"Look at it.\nSay what is wrong."}]}`},
	{"project list", `{"projects":[{"id":"01P","name":"web","root_path":"/src/web","base_branch":"origin/main","default_agent":"claude","tasks":2},
		{"id":"01Q","name":"gone","root_path":"/src/gone","tasks":0,"missing":true}]}`},
	{"project list", `{"projects":[]}`},
	{"project add /src/web", `{"project":{"name":"web","root_path":"/src/web"},"existed":false}`},
	{"project add /src/web", `{"project":{"name":"web","root_path":"/src/web"},"existed":true}`},
	{"project remove web -y", `{"name":"web","removed_tasks":1,"backup_refs":["refs/termic/backup/1"]}`},
	{"project settings web", `{"project":{"id":"01P","name":"web","root_path":"/src/web","sandbox":"enforce-fs","cage":{"mcp":false,"projects":[],"agents":[],"read":[],"write":[],"hosts":["example.com"]},"tasks":0}}`},
	{"project settings web", `{"project":{"id":"01P","name":"web","root_path":"/src/web","tasks":0,"repo":{"state":"knobs","digest":"ab","mode":"enforce"}}}`},
	{"project consent web", `{"name":"web","repo":{"state":"waiting","digest":"abcd","read":["/opt"],"scripts":[{"name":"setup","command":"npm ci\nmake\n"}]},"text":"scripts:\n  setup: |\n    npm ci\n"}`},
	{"project consent web", `{"name":"web","repo":{"state":"broken","problem":"line 2: no"}}`},
	{"project consent web", `{"name":"web"}`},
	{"project refs web", `{"name":"web","refs":[{"ref":"refs/heads/main","old":"0123456789abcdef0123","new":"fedcba98765432100123","noted":"2026-01-02T03:04:05Z","backup":"refs/termic/watch/heads%2Fmain-0123456789ab","tasks":["01A"]},
		{"ref":"refs/heads/new","new":"fedcba98765432100123","noted":"2026-01-02T03:04:05Z","tasks":["01A"]},{"ref":"refs/remotes/origin/HEAD","old":"ref: refs/remotes/origin/main","noted":"2026-01-02T03:04:05Z","tasks":["01A"]}],"problem":"A pipe."}`},
	{"project refs web --undo all", `{"name":"web","refs":[],"undone":[{"ref":"refs/heads/main","old":"0123456789abcdef0123","new":"fedcba98765432100123","noted":"2026-01-02T03:04:05Z","tasks":["01A"]}]}`},
	{"project refs web", `{"name":"web","refs":[]}`},
	{"path fix", `{"task_id":"01A","path":"/w/a b"}`},
	{"ledger export ~/x.jsonl", `{"file":"/home/u/x.jsonl","rows":2,"chain":"whole"}`},
	{"ledger --who client:ci", `{"rows":[],"total":10000,"more":true,"chain":"whole"}`},
	{"ledger", `{"rows":[{"seq":2,"time":"2026-01-02T03:04:05Z","phase":"done","call":"c","principal":"owner","face":"cli","verb":"task_send","target":"01A","outcome":"ok","duration_ms":12,"shape":"prompt:string(2)"}],"total":2,"chain":"whole"}`},
	{"settings get", `{"file":"/d/settings.toml","settings":{"terminal.font_size":13}}`},
	{"settings get a.b", `{"file":"/d/settings.toml","settings":{},"key":"a.b","value":"text"}`},
	{"queue fix", `{"task_id":"01T","prompts":[{"id":"01P1","tab_id":"01B","text":"Go on\\nwith it","bytes":13,"typing":true,"created":"2026-01-02T03:04:05Z"},{"id":"01P2","tab_id":"01B","text":"and \\u001b[31mthen","bytes":13,"created":"2026-01-02T03:04:05Z"}]}`},
	{"queue fix", `{"task_id":"01T","prompts":[]}`},
	{"queue fix", `{"task_id":"01T","prompts":[{"id":"01P3","tab_id":"01B","text":"again","bytes":5,"repeats":4,"created":"2026-01-02T03:04:05Z"}]}`},
	{"project find", `{"folder":"/home/me","repositories":[{"path":"/home/me/src/web","last":"2026-01-02T03:04:05Z","project":"web"},{"path":"/home/me/evil\u001b[31m"}],"more":true}`},
	{"project find /src", `{"folder":"/src","repositories":[]}`},
	{"project git web", `{"name":"web","branches":[{"name":"main","commit":"0123456789abcdef","time":"2026-01-02T03:04:05Z"},{"name":"origin/\u001b[31mmain","remote":true,"commit":"0123456789abcdef"}],"more":true,"worktrees":[{"path":"/r/web","branch":"main","main":true},{"path":"/w/a b","branch":"feature/a","task":"a"},{"path":"/w/gone","gone":true},{"path":"/w/held","locked":true}]}`},
	{"theme list", `{"folder":"/d/themes","themes":[{"id":"custom:night","name":"Night \u001b[1m","scheme":"dark","ui":{"frame":"#111"},"terminal":{},"problems":["There is no colour ui.x."]}],"problems":["bad.json: it is no file."]}`},
	{"theme list", `{"folder":"/d/themes","themes":[]}`},
	{"signals fix", `{"task_id":"01A","tab_id":"T1","agent":"claude","state":"needs_input","source":"status report","why":"permission","detail":"May I?\u001b[0m","since":"2026-01-02T03:04:05Z","capable":true,"held":true,"work_done":true,"signals":[{"time":"2026-01-02T03:04:05Z","kind":"title","text":"\u001b]0;x","times":12},{"time":"2026-01-02T03:04:06Z","kind":"state","text":"needs_input, by status report","times":1}]}`},
	{"signals fix", `{"task_id":"01A","tab_id":"T1","agent":"mine","state":"unknown","source":"none","since":"2026-01-02T03:04:05Z","capable":false,"work_done":false,"signals":[]}`},
	{"race fix --agent claude --agent codex -p x", `{"race":"01R","base":"origin/main","commit":"0123456789abcdef","tasks":[{"id":"01A","name":"fix claude","project":"web","agent":"claude","branch":"feature/fix-claude"},{"id":"01B","name":"fix codex","project":"web","agent":"codex","branch":"feature/fix-codex"}],"jobs":["01J","01K"]}`},
	{"settings reset a.b", `{"file":"/d/settings.toml","settings":{},"key":"a.b","value":13}`},
	{"settings reset keys.b", `{"file":"/d/settings.toml","settings":{},"key":"keys.b"}`},
	{"settings get a.b", `{"file":"/d/settings.toml","settings":{},"key":"a.b","value":3,"notes":"settings.toml, line 4: agents.0.comand is not known"}`},
	{"settings set a.b 3", `{"file":"/d/settings.toml","settings":{},"key":"a.b","value":3,"problem":"line 4: no such key"}`},
	{"mcp status", `{"enabled":true,"url":"http://127.0.0.1:4711/mcp","token_file":"/d/mcp-token","port":4711,"denied":3}`},
	{"mcp enable", `{"enabled":true,"url":"","token_file":"","error":"Port 4711 is taken by another program","hint":"Free it.","port":4711}`},
	{"mcp disable", `{"enabled":false,"url":"","token_file":"","port":4711}`},
	{"mcp rotate", `{"enabled":true,"url":"http://127.0.0.1:4711/mcp","token_file":"/d/mcp-token","port":4711}`},
	{"job list", `{"jobs":[{"id":"01J2","verb":"task_send","principal":"client:ci","face":"mcp","task_id":"01A","state":"running","started":"2026-01-02T03:04:05Z"},
		{"id":"01J1","verb":"project_add","principal":"owner","face":"cli","state":"failed","outcome":"not_found","message":"x","started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:06Z"}]}`},
	{"job list", `{"jobs":[]}`},
	{"health", `{"ok":false,"version":"1.2.3","started":"2026-01-02T03:04:05Z","tasks":{"live":3,"creating":0,"failed":1,"missing":1,"working":2,"needs_input":1,"queued":4},"jobs_running":5,"problems":["The folders of some tasks are gone"]}`},
	{"health", `{"ok":true,"version":"1.2.3","started":"2026-01-02T03:04:05Z","tasks":{"live":0,"creating":0,"failed":0,"missing":0,"working":0,"needs_input":0,"queued":0},"jobs_running":0,"problems":[]}`},
	{"job events", `{"events":[{"seq":7,"time":"2026-01-02T03:04:05Z","kind":"asked","text":"asked by \u001b[1mci via mcp","job":"01J1"}]}`},
	{"job show 01J1", `{"job":{"id":"01J1","verb":"task_apply","principal":"client:ci","face":"mcp","task_id":"01A","state":"failed","outcome":"conflict","message":"It is \u001b[1mdirty.","started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:06Z"}}`},
	{"job wait 01J1", `{"job":{"id":"01J1","verb":"task_new","principal":"owner","face":"cli","task_id":"01A","state":"done","outcome":"ok","started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:06Z","result":{}}}`},
	{"job cancel 01J1", `{"job":{"id":"01J1","verb":"task_send","principal":"owner","face":"cli","task_id":"01A","state":"cancelled","outcome":"unavailable","started":"2026-01-02T03:04:05Z","ended":"2026-01-02T03:04:06Z"}}`},
	{"job events 01J1", `{"job":"01J1","events":[{"seq":1,"time":"2026-01-02T03:04:05Z","kind":"asked","text":"asked by owner via cli"},{"seq":2,"time":"2026-01-02T03:04:06Z","kind":"ended","text":"done"}]}`},
	{"job log 01J1", `{"job":"01J1","lines":[{"seq":1,"time":"2026-01-02T03:04:05Z","line":"Preparing \u001b[1mworktree"}]}`},
	{"job log 01J1", `{"job":"01J1","lines":[]}`},
	{"approval list", `{"approvals":[{"id":"01P1","job":"01J1","state":"pending","verb":"task_apply","principal":"client:ci","face":"mcp","project_id":"01W","project":"web","summary":"Apply the task \"fix\u001b[1m\"","created":"2026-01-02T03:04:05Z","expires":"2026-01-02T04:04:05Z","digest":"d"}]}`},
	{"approval list", `{"approvals":[]}`},
	{"approval show 01P1", `{"approval":{"id":"01P1","job":"01J1","state":"denied","verb":"task_archive","principal":"client:ci","face":"mcp","task_id":"01A","task":"fix","project_id":"01W","project":"web","summary":"Archive the task \"fix\"","created":"2026-01-02T03:04:05Z","expires":"2026-01-02T04:04:05Z","decided_by":"owner","decided_on":"cli","reason":"not yet","digest":"d","plan":{"summary":"s","tasks":[{"task_id":"01A","name":"fix","agents":1,"losses":[{"kind":"untracked","count":2,"items":["a","b\u001b"]}]}]}}}`},
	{"approval show 01P1", `{"approval":{"id":"01P1","job":"01J1","state":"pending","verb":"task_apply","principal":"client:ci","face":"mcp","task_id":"01A","task":"fix","project_id":"01W","project":"web","summary":"Apply the task \"fix\"","created":"2026-01-02T03:04:05Z","expires":"2026-01-02T04:04:05Z","digest":"d","plan":{"summary":"s","apply":{"task_id":"01A","task":"fix","project":"web","files":[{"path":"a.txt","action":"modify"}],"total":1,"conflicts":["a.txt"]}}}}`},
	{"approval decide 01P1 approve", `{"approval":{"id":"01P1","summary":"Apply the task \"fix\""},"outcome":"ok"}`},
	{"approval decide 01P1 approve", `{"approval":{"id":"01P1","summary":"Apply the task \"fix\""},"outcome":"apply_conflict","message":"It left conflicts."}`},
	{"approval decide 01P1 deny --reason no", `{"approval":{"id":"01P1","summary":"Apply the task \"fix\""},"outcome":"denied"}`},
	{"plan fix", `{"task_id":"01A","task":"fix","project":"web","files":[{"path":"a\u001b.txt","action":"modify"},{"path":"b.txt","action":"copy"}],"total":3,"added":1,"modified":2,"tracked_files":2,"untracked_files":1,"conflicts":["a.txt"],"warnings":["One was left out"]}`},
	{"plan fix", `{"task_id":"01A","task":"fix","project":"web","files":[],"total":0,"conflicts":[],"refused":{"code":"conflict","message":"The main checkout has 1 uncommitted change"}}`},
	{"plan fix", `{"task_id":"01A","task":"fix","project":"web","files":[],"total":0,"conflicts":[]}`},
	{"drift fix", `{"task_id":"01A","task":"fix","project":"web","base_ref":"main","moved":true,"ahead":1,"behind":2,"base_files":["a"],"task_files":["a"],"conflicts":["a\u001b"],"conflicts_known":true}`},
	{"drift fix", `{"task_id":"01A","task":"fix","project":"web","base_ref":"main","ahead":1,"behind":0,"conflicts":[],"conflicts_known":true}`},
	{"drift fix", `{"task_id":"01A","task":"fix","project":"web","base_ref":"main","rewritten":true,"moved":true,"ahead":1,"behind":2,"conflicts":[],"conflicts_known":false}`},
	{"token new ci --scope operator --project web", `{"token":{"name":"ci","scope":"operator","all_projects":false,"projects":["web","a\u001b[31mb"],"created":"2026-01-02T03:04:05Z","url":"http://127.0.0.1:4711/mcp","file":"/d/tokens/ci"}}`},
	{"token set ci --all-projects", `{"token":{"name":"ci","scope":"readonly","all_projects":true,"projects":[],"created":"2026-01-02T03:04:05Z","url":"","file":""}}`},
	{"check list", `{"checks":[{"name":"site","kind":"http","state":"down","since":"2026-01-02T03:04:05Z","enabled":true,"every_ms":60000,"timeout_ms":10000,"retries":2,"expect":"ok","created_by":"owner","created":"2026-01-02T03:04:05Z","targets":[{"target":"https://a.example/","state":"up","since":"2026-01-02T03:04:05Z","ran":"2026-01-02T03:05:05Z","duration_ms":12,"netgroup":"office","detail":"200 OK"},{"target":"https://b.example/","state":"down","since":"2026-01-02T03:04:05Z","ran":"2026-01-02T03:05:05Z","duration_ms":1003,"detail":"no\u001b[31m answer within 10s"}]},{"name":"cert","kind":"tls","state":"up","since":"2026-01-02T03:04:05Z","enabled":true,"snoozed_until":"2026-01-02T04:04:05Z","min_days":14,"every_ms":3600000,"timeout_ms":10000,"created_by":"owner","created":"2026-01-02T03:04:05Z","targets":[{"target":"a.example","state":"up","since":"2026-01-02T03:04:05Z","ran":"2026-01-02T03:05:05Z","duration_ms":30,"detail":"valid for 20 days more"}]},{"name":"old","kind":"metric","state":"unknown","enabled":false,"every_ms":600000,"timeout_ms":10000,"op":">=","value":"3","created_by":"client:ci","created":"2026-01-02T03:04:05Z","targets":[{"target":"https://a.example/metrics#x","state":"unknown","duration_ms":0}]}],"total":3,"down":1}`},
	{"check list", `{"checks":[],"total":0,"down":0}`},
	{"check show site", `{"check":{"name":"site","kind":"http","state":"down","since":"2026-01-02T03:04:05Z","enabled":true,"every_ms":60000,"timeout_ms":10000,"retries":2,"expect":"ok","created_by":"owner","created":"2026-01-02T03:04:05Z","targets":[{"target":"https://a.example/","state":"up","since":"2026-01-02T03:04:05Z","ran":"2026-01-02T03:05:05Z","duration_ms":12,"netgroup":"office","detail":"200 OK"},{"target":"https://b.example/","state":"down","since":"2026-01-02T03:04:05Z","ran":"2026-01-02T03:05:05Z","duration_ms":1003,"detail":"no\u001b[31m answer within 10s"}]}}`},
	{"check add cert tls --target a.example --min-days 14", `{"check":{"name":"cert","kind":"tls","state":"up","since":"2026-01-02T03:04:05Z","enabled":true,"snoozed_until":"2026-01-02T04:04:05Z","min_days":14,"every_ms":3600000,"timeout_ms":10000,"created_by":"owner","created":"2026-01-02T03:04:05Z","targets":[{"target":"a.example","state":"up","since":"2026-01-02T03:04:05Z","ran":"2026-01-02T03:05:05Z","duration_ms":30,"detail":"valid for 20 days more"}]}}`},
	{"check update old --value 3", `{"check":{"name":"old","kind":"metric","state":"unknown","enabled":false,"every_ms":600000,"timeout_ms":10000,"op":">=","value":"3","created_by":"client:ci","created":"2026-01-02T03:04:05Z","targets":[{"target":"https://a.example/metrics#x","state":"unknown","duration_ms":0}]}}`},
	{"check switch old off", `{"check":{"name":"old","kind":"metric","state":"unknown","enabled":false,"every_ms":600000,"timeout_ms":10000,"op":">=","value":"3","created_by":"client:ci","created":"2026-01-02T03:04:05Z","targets":[{"target":"https://a.example/metrics#x","state":"unknown","duration_ms":0}]}}`},
	{"check snooze cert --for 1h", `{"check":{"name":"cert","kind":"tls","state":"up","since":"2026-01-02T03:04:05Z","enabled":true,"snoozed_until":"2026-01-02T04:04:05Z","min_days":14,"every_ms":3600000,"timeout_ms":10000,"created_by":"owner","created":"2026-01-02T03:04:05Z","targets":[{"target":"a.example","state":"up","since":"2026-01-02T03:04:05Z","ran":"2026-01-02T03:05:05Z","duration_ms":30,"detail":"valid for 20 days more"}]}}`},
	{"check delete site", `{"name":"site"}`},
	{"check probe site", `{"results":[{"target":"https://a.example/","up":true,"duration_ms":12,"netgroup":"office","detail":"200 OK"},{"target":"https://b.example/","up":false,"duration_ms":1003,"netgroup":"","detail":"nothing listens there"}]}`},
	{"netgroup list", `{"netgroups":[{"name":"office","members":["192.0.2.0/24","!192.0.2.7"],"note":"the house","used_by":["the settings"],"updated":"2026-01-02T03:04:05Z"}]}`},
	{"netgroup list", `{"netgroups":[]}`},
	{"netgroup add office 192.0.2.0/24 !192.0.2.7", `{"netgroup":{"name":"office","members":["192.0.2.0/24","!192.0.2.7"],"note":"the house","used_by":["the settings"],"updated":"2026-01-02T03:04:05Z"}}`},
	{"netgroup update office --note none", `{"netgroup":{"name":"office","members":["192.0.2.0/24","!192.0.2.7"],"note":"the house","used_by":["the settings"],"updated":"2026-01-02T03:04:05Z"},"kept":"1 running agent may reach the addresses from before, until started again"}`},
	{"netgroup delete office", `{"name":"office"}`},
	{"token list", `{"tokens":[{"name":"ci","scope":"approve","all_projects":true,"projects":[],"created":"2026-01-02T03:04:05Z","url":"u","file":"/d/tokens/ci"},{"name":"old","scope":"readonly","all_projects":false,"projects":[],"created":"2026-01-02T03:04:05Z","url":"","file":""}]}`},
	{"token list", `{"tokens":[]}`},
	{"secret list", `{"secrets":[]}`},
	{"secret list", `{"secrets":[{"name":"API_KEY","note":"of \u001b[31mthe shop","kept_in":"keyring","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","used":"2026-01-02T03:04:06Z","tasks":["x"],"projects":[]},{"name":"B","kept_in":"file","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","tasks":[],"projects":["p","q"]}]}`},
	{"secret set API_KEY", `{"secret":{"name":"API_KEY","kept_in":"keyring","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","tasks":[],"projects":[]},"holders":[]}`},
	{"secret set API_KEY", `{"secret":{"name":"API_KEY","kept_in":"file","created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","tasks":[],"projects":[]},"why":"the keyring of this session does not answer, or is locked","holders":[{"task_id":"t","task":"fix","tab_id":"b","tab":"Claude"}]}`},
	{"secret delete API_KEY --force --yes", `{"name":"API_KEY","why":"The keyring does not forget the value of API_KEY: it does not answer, or is locked","holders":[]}`},
	{"secret delete API_KEY --force --yes", `{"name":"API_KEY","holders":[{"task_id":"t","task":"fix","tab_id":"b","tab":"Claude"}]}`},
	{"token revoke ci", `{"name":"ci"}`},
	{"event list", `{"events":[{"id":"01E1","seq":7,"time":"2026-01-02T03:04:05Z","kind":"task_settled","subject":"fix\u001b[31m","task_id":"01A","project_id":"01P","cages":["01A"],"facts":{"outcome":"done","detail":"\u001b]0;x\u0007"},"acted":1,"unacted":1},{"id":"01E0","seq":6,"time":"2026-01-02T03:04:04Z","kind":"webhook","subject":"ci","facts":{},"acted":0,"unacted":0}]}`},
	{"event list --kind webhook", `{"events":[]}`},
	{"event explain 01E1", `{"event":{"id":"01E1","seq":7,"time":"2026-01-02T03:04:05Z","kind":"task_settled","subject":"fix\u001b[31m","task_id":"01A","project_id":"01P","cages":["01A"],"facts":{"outcome":"done","detail":"\u001b]0;x\u0007"},"acted":1,"unacted":1},"rules":[{"rule":"next","rule_id":"01R","matched":true,"firing":{"time":"2026-01-02T03:04:05Z","outcome":"refused","detail":"There is no task \"x\u001b\".","event":"01E1","verb":"task_send","job":"01J"}},{"rule":"other","rule_id":"01Q","matched":false,"why":"It is switched off."}]}`},
	{"event explain 01E1", `{"event":{"id":"01E1","seq":7,"time":"2026-01-02T03:04:05Z","kind":"task_settled","subject":"fix\u001b[31m","task_id":"01A","project_id":"01P","cages":["01A"],"facts":{"outcome":"done","detail":"\u001b]0;x\u0007"},"acted":1,"unacted":1},"rules":[]}`},
	{"trigger list", `{"triggers":[{"id":"01R","name":"next","do":"task_send","task":"fix","prompt":"go on\nplease","with_facts":true,"creator":"client:ci","enabled":true,"stopped":"The token of client:ci was revoked.","last":{"time":"2026-01-02T03:04:05Z","outcome":"refused","detail":"There is no task \"x\u001b\".","event":"01E1","verb":"task_send","job":"01J"},"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","kind":"task_settled","subject":"fix-*","facts":["outcome=done"]}]}`},
	{"trigger list", `{"triggers":[]}`},
	{"trigger add next --on task_settled --do task_send --task fix -p x", `{"trigger":{"id":"01R","name":"next","do":"task_send","task":"fix","prompt":"go on\nplease","with_facts":true,"creator":"client:ci","enabled":true,"stopped":"The token of client:ci was revoked.","last":{"time":"2026-01-02T03:04:05Z","outcome":"refused","detail":"There is no task \"x\u001b\".","event":"01E1","verb":"task_send","job":"01J"},"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","kind":"task_settled","subject":"fix-*","facts":["outcome=done"]}}`},
	{"trigger update next --disable", `{"trigger":{"id":"01R","name":"next","do":"task_send","task":"fix","prompt":"go on\nplease","with_facts":true,"creator":"client:ci","enabled":true,"stopped":"The token of client:ci was revoked.","last":{"time":"2026-01-02T03:04:05Z","outcome":"refused","detail":"There is no task \"x\u001b\".","event":"01E1","verb":"task_send","job":"01J"},"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","kind":"task_settled","subject":"fix-*","facts":["outcome=done"]}}`},
	{"trigger delete next", `{"name":"next"}`},
	{"schedule list", `{"schedules":[{"id":"01S","name":"nightly","do":"task_new","into":"web","task_name":"night {date}","agent":"claude","sandbox":"enforce","prompt":"tidy up","creator":"owner","enabled":true,"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","cron":"0 2 * * *","zone":"Europe/Berlin","jitter":"5m0s","missed":"once","overlap":false,"next":["2026-01-03T02:00:00+01:00"]},{"id":"01T","name":"often","do":"task_send","task":"fix","prompt":"x","creator":"owner","enabled":false,"created":"c","updated":"u","every":"1h0m0s","missed":"skip","overlap":true,"next":[]}]}`},
	{"schedule list", `{"schedules":[]}`},
	{"schedule add nightly --cron @daily --do task_new --into web --task-name x", `{"schedule":{"id":"01S","name":"nightly","do":"task_new","into":"web","task_name":"night {date}","agent":"claude","sandbox":"enforce","prompt":"tidy up","creator":"owner","enabled":true,"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","cron":"0 2 * * *","zone":"Europe/Berlin","jitter":"5m0s","missed":"once","overlap":false,"next":["2026-01-03T02:00:00+01:00"]}}`},
	{"schedule update often --every 1h", `{"schedule":{"id":"01T","name":"often","do":"task_send","task":"fix","prompt":"x","creator":"owner","enabled":false,"created":"c","updated":"u","every":"1h0m0s","missed":"skip","overlap":true,"next":[]}}`},
	{"schedule delete nightly", `{"name":"nightly"}`},
	{"schedule run nightly", `{"name":"nightly","firing":{"time":"2026-01-02T03:04:05Z","outcome":"done","verb":"task_new","task_id":"01A","job":"01J"}}`},
	{"hook add ci", `{"hook":{"name":"ci","url":"https://127.0.0.1:8443/api/v1/hooks/ci","file":"/d/hooks/ci","created":"2026-01-02T03:04:05Z"},"secret":"s3cret"}`},
	{"hook list", `{"hooks":[{"name":"ci","file":"/d/hooks/ci","created":"2026-01-02T03:04:05Z"}]}`},
	{"hook list", `{"hooks":[]}`},
	{"hook delete ci", `{"name":"ci"}`},
	{"quit", `{"running":true,"tasks_with_agents":1,"live_agents":2,"working_tasks":1,"quitting":false}`},
	{"quit --commit", `{"running":true,"live_agents":1,"quitting":true}`},
	{"update", `{"version":"0.1.0","state":"off"}`},
	{"update", `{"version":"0.1.0","state":"unset","error":"This build names no address to ask for newer releases, so nothing is asked","hint":"If whoever made it names one: set it."}`},
	{"update", `{"version":"0.1.0","state":"unasked","address":"https://example.com/latest.json"}`},
	{"update", `{"version":"0.1.0","state":"current","latest":"0.1.0","found":"2026-11-30T12:00:00Z"}`},
	{"update", `{"version":"dev","state":"unknown","latest":"0.1.0","found":"2026-11-30T12:00:00Z","page":"https://example.com/"}`},
	{"update --now", `{"version":"0.1.0","state":"newer","latest":"0.2.0","page":"https://example.com/","asked":"2026-11-30T12:00:00Z","found":"2026-11-29T12:00:00Z","error":"The address of updates was asked, and it answered 404","hint":"It is asked again later."}`},
	{"doctor", `{"version":"1.0","findings":[{"name":"git","level":"ok","detail":"2.39"},{"name":"agents","level":"warn","detail":"none","fix":"Install one."}]}`},
}

// TestText shows every sample as text, as it goes to a file or a pipe.
func TestText(t *testing.T) {
	var all strings.Builder
	shown := map[string]bool{}
	for _, s := range samples {
		a := says(t, s.result)
		got := a.run(t, nil, "", strings.Fields(s.line)...)
		if len(a.calls) == 1 {
			shown[a.calls[0].verb] = true
		}
		fmt.Fprintf(&all, "$ termic %s\n%s", s.line, got.out)
		if got.errors != "" {
			fmt.Fprintf(&all, "(standard error)\n%s", got.errors)
		}
		if got.exit != 0 {
			fmt.Fprintf(&all, "(exit %d)\n", got.exit)
		}
		all.WriteByte('\n')
	}
	golden(t, "text.golden", all.String())
	for _, v := range verb.All() {
		if len(paths(&v)) > 0 && !v.Local && v.Name != "attach" && !shown[v.Name] {
			t.Errorf("%s has no sample", v.Name)
		}
	}
}

// TestEveryVerbHasText: each verb that the app answers has a renderer, and no renderer is left over.
func TestEveryVerbHasText(t *testing.T) {
	have := renderers()
	for _, v := range verb.All() {
		_, ok := have[v.Name]
		if want := len(paths(&v)) > 0 && !v.Local && v.Name != "attach"; ok != want {
			t.Errorf("%s: a renderer is there: %v, wanted: %v", v.Name, ok, want)
		}
		delete(have, v.Name)
	}
	for name := range have {
		t.Errorf("the renderer of %s has no verb", name)
	}
}

// TestNoTextCommandsTheTerminal fills every string of every result with control sequences: on a terminal none of them
// comes out.
func TestNoTextCommandsTheTerminal(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202e\r"
	for _, v := range verb.All() {
		show, ok := renderers()[v.Name]
		if !ok {
			continue
		}
		value := reflect.New(v.Result)
		fill(value.Elem(), evil, 0)
		data, err := json.Marshal(value.Interface())
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		for _, values := range []map[string]any{{}, {"full": true, "selector": evil}} {
			if err := show(&printer{out: &out, err: &errs, values: values}, data); err != nil {
				t.Fatal(err)
			}
		}
		if out.Len() == 0 {
			t.Errorf("%s shows nothing", v.Name)
		}
		for _, text := range []string{out.String(), errs.String()} {
			if i := strings.IndexFunc(text, func(r rune) bool {
				return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
			}); i >= 0 {
				t.Errorf("%s lets %q through: %q", v.Name, text[i], text)
			}
		}
	}
}

// fill puts s into every string below v, and one element into every list.
func fill(v reflect.Value, s string, depth int) {
	if depth > 8 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), s, depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		item := reflect.New(v.Type().Elem()).Elem()
		fill(item, s, depth+1)
		v.SetMapIndex(reflect.ValueOf(s), item)
	case reflect.Interface:
		v.Set(reflect.ValueOf(s))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), s, depth+1)
		}
	}
}
