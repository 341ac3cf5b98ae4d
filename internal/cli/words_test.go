package cli

import "testing"

func TestCommands(t *testing.T) {
	for in, want := range map[string]string{
		"Its last output is in task_log.":       "Its last output is in `termic logs`.",
		"Close it with task_tab_close or wait":  "Close it with `termic tab close` or wait",
		"task_id and my_task_log stay, as does": "task_id and my_task_log stay, as does",
		"job_list shows them; body_text stays":  "`termic job list` shows them; body_text stays",
		`Give do: "task_new" or "task_send".`:   `Give do: "task_new" or "task_send".`,
		"":                                      "",
	} {
		if got := commands(in); got != want {
			t.Errorf("commands(%q) = %q", in, got)
		}
	}
}
