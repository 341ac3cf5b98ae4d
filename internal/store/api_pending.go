package store

import (
	"context"
	"log/slog"
	"time"
)

type Options struct {
	Now        func() time.Time
	Log        *slog.Logger
	LedgerAge  time.Duration
	LedgerRows int64
}
type Store struct{ Reader }
type Tx struct{ Reader }
type Reader struct{}

func Open(ctx context.Context, path string, o Options) (*Store, error) { panic("pending") }
func (s *Store) Close() error                                          { panic("pending") }
func (s *Store) Path() string                                          { panic("pending") }

// Check runs SQLite's integrity check (doctor).
func (s *Store) Check(ctx context.Context) error { panic("pending") }

// Write runs fn in one transaction under the write lock. Error from fn = rolled back. fn must use tx, not s.
func (s *Store) Write(ctx context.Context, fn func(tx *Tx) error) error { panic("pending") }

// Reader: on Store (committed state) and on Tx (sees the transaction's own changes).
func (r Reader) Project(ctx context.Context, id string) (Project, error)            { panic("pending") }
func (r Reader) ProjectByName(ctx context.Context, name string) (Project, error)    { panic("pending") }
func (r Reader) ProjectByRoot(ctx context.Context, root string) (Project, error)    { panic("pending") }
func (r Reader) Projects(ctx context.Context) ([]Project, error)                    { panic("pending") }
func (r Reader) Task(ctx context.Context, id string) (Task, error)                  { panic("pending") }
func (r Reader) Tasks(ctx context.Context, f TaskFilter) ([]Task, error)            { panic("pending") }
func (r Reader) Tab(ctx context.Context, id string) (Tab, error)                    { panic("pending") }
func (r Reader) Tabs(ctx context.Context, taskID string) ([]Tab, error)             { panic("pending") } // open ones, "" = of all tasks
func (r Reader) Prompt(ctx context.Context, id string) (Prompt, error)              { panic("pending") }
func (r Reader) Prompts(ctx context.Context, tabID string) ([]Prompt, error)        { panic("pending") } // queued and delivering; "" = all
func (r Reader) NextPrompt(ctx context.Context, tabID string) (Prompt, bool, error) { panic("pending") } // oldest queued
func (r Reader) Terminals(ctx context.Context) ([]Terminal, error)                  { panic("pending") }
func (r Reader) Intents(ctx context.Context) ([]Intent, error)                      { panic("pending") }
func (r Reader) Job(ctx context.Context, id string) (Job, error)                    { panic("pending") }
func (r Reader) LookupKey(ctx context.Context, k IdempotencyKey) (ref string, found bool, err error) {
	panic("pending")
}

// Writes: each exists on Tx, and on Store as a transaction of its own.
func (t *Tx) AddProject(ctx context.Context, p Project) (stored Project, existed bool, err error) {
	panic("pending")
}
func (t *Tx) UpdateProject(ctx context.Context, id string, fn func(*Project) error) (Project, error) {
	panic("pending")
}
func (t *Tx) RemoveProject(ctx context.Context, id string) error   { panic("pending") }
func (t *Tx) CreateTask(ctx context.Context, v Task) (Task, error) { panic("pending") }
func (t *Tx) UpdateTask(ctx context.Context, id string, fn func(*Task) error) (Task, error) {
	panic("pending")
}
func (t *Tx) DeleteTask(ctx context.Context, id string) error   { panic("pending") }
func (t *Tx) CreateTab(ctx context.Context, v Tab) (Tab, error) { panic("pending") }
func (t *Tx) UpdateTab(ctx context.Context, id string, fn func(*Tab) error) (Tab, error) {
	panic("pending")
}
func (t *Tx) EnqueuePrompt(ctx context.Context, v Prompt) (Prompt, error) { panic("pending") }
func (t *Tx) SetPromptState(ctx context.Context, id, state, reason string, from ...string) error {
	panic("pending")
}
func (t *Tx) InterruptPrompts(ctx context.Context) ([]Prompt, error)        { panic("pending") } // delivering -> unknown
func (t *Tx) PutTerminal(ctx context.Context, v Terminal) (Terminal, error) { panic("pending") }
func (t *Tx) DeleteTerminal(ctx context.Context, id string) error           { panic("pending") }
func (t *Tx) BeginIntent(ctx context.Context, v Intent) (Intent, error)     { panic("pending") }
func (t *Tx) EndIntent(ctx context.Context, id string) error                { panic("pending") }
func (t *Tx) StartJob(ctx context.Context, v Job) (Job, error)              { panic("pending") }
func (t *Tx) EndJob(ctx context.Context, id, state, outcome string) error   { panic("pending") }
func (t *Tx) InterruptRunningJobs(ctx context.Context) (int, error)         { panic("pending") }

// ClaimKey ties k to ref unless it is tied already: same digest -> (earlier ref, true), other digest -> Conflict.
func (t *Tx) ClaimKey(ctx context.Context, k IdempotencyKey, ref string) (have string, joined bool, err error) {
	panic("pending")
}

// Append commits rows (and all grouped ones before them) before it returns.
func (t *Tx) Append(ctx context.Context, rows ...LedgerRow) error { panic("pending") }

func (s *Store) AddProject(ctx context.Context, p Project) (stored Project, existed bool, err error) {
	panic("pending")
}
func (s *Store) UpdateProject(ctx context.Context, id string, fn func(*Project) error) (Project, error) {
	panic("pending")
}
func (s *Store) RemoveProject(ctx context.Context, id string) error                 { panic("pending") }
func (s *Store) CreateTask(ctx context.Context, v Task, in ...Intent) (Task, error) { panic("pending") }
func (s *Store) UpdateTask(ctx context.Context, id string, fn func(*Task) error) (Task, error) {
	panic("pending")
}
func (s *Store) DeleteTask(ctx context.Context, id string) error   { panic("pending") }
func (s *Store) CreateTab(ctx context.Context, v Tab) (Tab, error) { panic("pending") }
func (s *Store) UpdateTab(ctx context.Context, id string, fn func(*Tab) error) (Tab, error) {
	panic("pending")
}
func (s *Store) EnqueuePrompt(ctx context.Context, v Prompt) (Prompt, error) { panic("pending") }
func (s *Store) SetPromptState(ctx context.Context, id, state, reason string, from ...string) error {
	panic("pending")
}
func (s *Store) InterruptPrompts(ctx context.Context) ([]Prompt, error)        { panic("pending") }
func (s *Store) PutTerminal(ctx context.Context, v Terminal) (Terminal, error) { panic("pending") }
func (s *Store) DeleteTerminal(ctx context.Context, id string) error           { panic("pending") }
func (s *Store) BeginIntent(ctx context.Context, v Intent) (Intent, error)     { panic("pending") }
func (s *Store) EndIntent(ctx context.Context, id string) error                { panic("pending") }
func (s *Store) StartJob(ctx context.Context, v Job) (Job, error)              { panic("pending") }
func (s *Store) EndJob(ctx context.Context, id, state, outcome string) error   { panic("pending") }
func (s *Store) InterruptRunningJobs(ctx context.Context) (int, error)         { panic("pending") }
func (s *Store) Append(ctx context.Context, rows ...LedgerRow) error           { panic("pending") }

// AppendGrouped is for rows of reads: committed with others within 250 ms or 100 rows, and by Close.
func (s *Store) AppendGrouped(ctx context.Context, row LedgerRow) error { panic("pending") }

// Ledger returns rows newest first and the number that match f without Before and Limit.
func (s *Store) Ledger(ctx context.Context, f LedgerFilter) (rows []LedgerRow, total int64, err error) {
	panic("pending")
}

// VerifyChain checks the newest n rows (0: all): "whole", or "broken at row N: why".
func (s *Store) VerifyChain(ctx context.Context, newest int64) (string, error) { panic("pending") }
func (s *Store) PruneLedger(ctx context.Context) (int64, error)                { panic("pending") }
