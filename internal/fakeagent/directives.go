package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// plan is what a prompt asks for. A directive is a line of the prompt that begins with #:
//
//	#work D          work for that long
//	#ask TEXT        ask for permission; Enter or 1 says yes
//	#write FILE TEXT write a file in the working directory
//	#commit MSG      commit all changes
//	#run FILE CMD    run a shell command; its output and its exit status go into the file (see acts.go)
//	#tool FILE NAME JSON  call a tool of the MCP endpoint of TERMIC_MCP_URL; the answer goes into the file
//	#say TEXT        answer with this text
//	#exit N          end with that status
//	#osc9 TEXT       send a notification
//	#bel             ring
//	#flood N         print N KiB
//	#pending D       background agents go on for that long after the turn
//	#stage           look done, and work again
type plan struct {
	work    time.Duration
	pending time.Duration
	stage   bool
	say     string
	do      []func(*agent)
}

func parseDirectives(body string) plan {
	var p plan
	for _, line := range strings.Split(body, "\n") {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "#work":
			p.work += duration(rest)
		case "#pending":
			p.pending = duration(rest)
		case "#stage":
			p.stage = true
		case "#say":
			p.say = rest
		case "#ask":
			p.do = append(p.do, func(a *agent) { a.askPermission(rest) })
		case "#write":
			p.do = append(p.do, func(a *agent) { a.write(rest) })
		case "#run":
			p.do = append(p.do, func(a *agent) { a.runShell(rest) })
		case "#tool":
			p.do = append(p.do, func(a *agent) { a.tool(rest) })
		case "#commit":
			p.do = append(p.do, func(a *agent) { a.commit(rest) })
		case "#exit":
			n, _ := strconv.Atoi(rest)
			p.do = append(p.do, func(a *agent) { a.over, a.exitCode = true, n })
		case "#osc9":
			p.do = append(p.do, func(a *agent) { fmt.Fprintf(a.out, "\x1b]9;%s\x07", rest) })
		case "#bel":
			p.do = append(p.do, func(a *agent) { fmt.Fprint(a.out, "\x07") })
		case "#flood":
			n, _ := strconv.Atoi(rest)
			p.do = append(p.do, func(a *agent) { a.flood(n) })
		}
	}
	return p
}

// duration reads a Go duration or a number of seconds; what is neither is nothing.
func duration(s string) time.Duration {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return time.Duration(n * float64(time.Second))
	}
	d, _ := time.ParseDuration(s)
	return d
}

// askPermission blocks the turn until the question is answered.
func (a *agent) askPermission(text string) {
	a.working = false
	a.report("blocked", "permission", text)
	a.setTitle("✳ fakeagent") // as claude: the title does not tell
	a.ask(&dialog{name: "answer", rows: []string{text}, options: []string{"Yes", "No"}, foot: "Enter to confirm · Esc to cancel",
		on: func(choice int) {
			a.begin()
			a.say("● answered " + []string{"yes", "no"}[choice])
			if len(a.steps) > 0 {
				a.timer.Reset(3 * frame)
			}
		}})
}

func (a *agent) write(rest string) {
	name, text, _ := strings.Cut(rest, " ")
	if !filepath.IsLocal(name) {
		a.say("● refused to write " + name)
		return
	}
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text+"\n"), 0o644)
	}
	a.say(fmt.Sprintf("● wrote %s: %v", name, err))
}

func (a *agent) commit(msg string) {
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=fakeagent", "-c", "user.email=fakeagent@example.invalid", "commit", "-q", "-m", msg}} {
		out, err := exec.Command("git", args...).CombinedOutput()
		if err != nil {
			a.say(fmt.Sprintf("● git failed: %v %s", err, out))
			return
		}
	}
	a.say("● committed " + msg)
}

// flood prints n KiB of rows.
func (a *agent) flood(n int) {
	row := strings.Repeat("flood ", 170) + "\r\n" // 1 KiB with the break
	for range n {
		fmt.Fprint(a.out, row[:1022]+"\r\n")
	}
	a.draw()
}
