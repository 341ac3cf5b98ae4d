//go:build !headless

package app

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// desktop is the system's service for notifications, as far as it answers. Its zero value was not tried yet.
type desktop struct {
	mu      sync.Mutex // guards the following
	problem string     // why it takes none, for the person; empty while it does
}

// tellDesktop tells the desktop what happens while nobody looks, until ctx ends. Whom to tell what is the teller's
// decision; here is only how.
func (b *Bridge) tellDesktop(ctx, window context.Context, s seat) {
	b.setProblem(startNotices(window))
	defer runtime.CleanupNotifications(window)
	runtime.OnNotificationResponse(window, func(r runtime.NotificationResult) {
		if task, ok := r.Response.UserInfo["task"].(string); ok && r.Error == nil {
			b.follow(ctx, s, task)
		}
	})
	var tell teller
	for ctx.Err() == nil {
		_, changed := s.Watch()
		tasks, err := s.tasks(ctx)
		switch {
		case err == nil:
			for _, n := range tell.news(tasks, b.looking(), s.wishes(ctx), time.Now()) {
				b.send(window, s, n)
			}
		case ctx.Err() == nil:
			s.logger().Warn("cannot tell how the agents stand", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-s.over():
			return
		case <-changed:
		}
	}
}

// startNotices connects to the system's service and says why that cannot be, in words.
func startNotices(window context.Context) string {
	if !runtime.IsNotificationAvailable(window) {
		return "This system takes no notifications."
	}
	if err := runtime.InitializeNotifications(window); err != nil {
		return "The desktop's notifications do not answer: " + err.Error() + "."
	}
	if ok, err := runtime.RequestNotificationAuthorization(window); err != nil || !ok {
		return "The system does not let Termic notify you. Allow it in the system's settings, then start Termic again."
	}
	return ""
}

func (b *Bridge) send(window context.Context, s seat, n notice) {
	err := runtime.SendNotification(window, runtime.NotificationOptions{ID: n.ID, Title: n.Title, Body: n.Body, Data: map[string]any{"task": n.Task}})
	if err != nil {
		s.logger().Warn("the desktop was not told", "err", err)
		b.setProblem("The desktop did not take the last notification: " + err.Error() + ".")
		return
	}
	b.setProblem("")
	s.logger().Debug("the desktop was told", "task", n.Task, "id", n.ID)
}

// follow shows the task of a notification that the person clicked: the verb raises the window.
func (b *Bridge) follow(ctx context.Context, s seat, task string) {
	params, err := json.Marshal(map[string]string{"task": task})
	if err == nil {
		_, err = s.Call(ctx, "task_open", params)
	}
	if err != nil {
		s.logger().Warn("the task of a notification cannot be shown", "task", task, "err", err)
	}
}

// Looking says whether the person looks at the window now.
func (b *Bridge) Looking(looks bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks = looks
}

func (b *Bridge) looking() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.looks
}

// NotificationProblem says in a sentence why the desktop takes no notifications; "" while it does.
func (b *Bridge) NotificationProblem() string {
	b.desktop.mu.Lock()
	defer b.desktop.mu.Unlock()
	return b.desktop.problem
}

func (b *Bridge) setProblem(text string) {
	b.desktop.mu.Lock()
	defer b.desktop.mu.Unlock()
	b.desktop.problem = text
}
