package store

import "context"

// The methods in this file are those of Tx, each as a transaction of its own.

// AddProject is Tx.AddProject as one transaction.
func (s *Store) AddProject(ctx context.Context, p Project) (stored Project, existed bool, err error) {
	err = s.Write(ctx, func(tx *Tx) (err error) {
		stored, existed, err = tx.AddProject(ctx, p)
		return err
	})
	if err != nil {
		return Project{}, false, err
	}
	return stored, existed, nil
}

// UpdateProject is Tx.UpdateProject as one transaction.
func (s *Store) UpdateProject(ctx context.Context, id string, fn func(*Project) error) (Project, error) {
	return write1(ctx, s, func(tx *Tx) (Project, error) { return tx.UpdateProject(ctx, id, fn) })
}

// RemoveProject is Tx.RemoveProject as one transaction.
func (s *Store) RemoveProject(ctx context.Context, id string) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.RemoveProject(ctx, id) })
}

// CreateTask is Tx.CreateTask and Tx.BeginIntent for each intent, as one transaction.
func (s *Store) CreateTask(ctx context.Context, v Task, intents ...Intent) (Task, error) {
	return write1(ctx, s, func(tx *Tx) (Task, error) {
		for _, in := range intents {
			if _, err := tx.BeginIntent(ctx, in); err != nil {
				return Task{}, err
			}
		}
		return tx.CreateTask(ctx, v)
	})
}

// UpdateTask is Tx.UpdateTask as one transaction.
func (s *Store) UpdateTask(ctx context.Context, id string, fn func(*Task) error) (Task, error) {
	return write1(ctx, s, func(tx *Tx) (Task, error) { return tx.UpdateTask(ctx, id, fn) })
}

// DeleteTask is Tx.DeleteTask as one transaction.
func (s *Store) DeleteTask(ctx context.Context, id string) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.DeleteTask(ctx, id) })
}

// SetConsent is Tx.SetConsent as one transaction.
func (s *Store) SetConsent(ctx context.Context, projectID, digest string) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.SetConsent(ctx, projectID, digest) })
}

// CreateTab is Tx.CreateTab as one transaction.
func (s *Store) CreateTab(ctx context.Context, v Tab) (Tab, error) {
	return write1(ctx, s, func(tx *Tx) (Tab, error) { return tx.CreateTab(ctx, v) })
}

// UpdateTab is Tx.UpdateTab as one transaction.
func (s *Store) UpdateTab(ctx context.Context, id string, fn func(*Tab) error) (Tab, error) {
	return write1(ctx, s, func(tx *Tx) (Tab, error) { return tx.UpdateTab(ctx, id, fn) })
}

// EnqueuePrompt is Tx.EnqueuePrompt as one transaction.
func (s *Store) EnqueuePrompt(ctx context.Context, v Prompt) (Prompt, error) {
	return write1(ctx, s, func(tx *Tx) (Prompt, error) { return tx.EnqueuePrompt(ctx, v) })
}

// SetPromptState is Tx.SetPromptState as one transaction.
func (s *Store) SetPromptState(ctx context.Context, id, state, reason string, from ...string) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.SetPromptState(ctx, id, state, reason, from...) })
}

// InterruptPrompts is Tx.InterruptPrompts as one transaction.
func (s *Store) InterruptPrompts(ctx context.Context) ([]Prompt, error) {
	return write1(ctx, s, func(tx *Tx) ([]Prompt, error) { return tx.InterruptPrompts(ctx) })
}

// PutTerminal is Tx.PutTerminal as one transaction.
func (s *Store) PutTerminal(ctx context.Context, v Terminal) (Terminal, error) {
	return write1(ctx, s, func(tx *Tx) (Terminal, error) { return tx.PutTerminal(ctx, v) })
}

// DeleteTerminal is Tx.DeleteTerminal as one transaction.
func (s *Store) DeleteTerminal(ctx context.Context, id string) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.DeleteTerminal(ctx, id) })
}

// BeginIntent is Tx.BeginIntent as one transaction.
func (s *Store) BeginIntent(ctx context.Context, v Intent) (Intent, error) {
	return write1(ctx, s, func(tx *Tx) (Intent, error) { return tx.BeginIntent(ctx, v) })
}

// EndIntent is Tx.EndIntent as one transaction.
func (s *Store) EndIntent(ctx context.Context, id string) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.EndIntent(ctx, id) })
}

// StartJob is Tx.StartJob as one transaction.
func (s *Store) StartJob(ctx context.Context, v Job) (Job, error) {
	return write1(ctx, s, func(tx *Tx) (Job, error) { return tx.StartJob(ctx, v) })
}

// EndJob is Tx.EndJob as one transaction.
func (s *Store) EndJob(ctx context.Context, id string, end JobEnd) error {
	return s.Write(ctx, func(tx *Tx) error { return tx.EndJob(ctx, id, end) })
}

// InterruptRunningJobs is Tx.InterruptRunningJobs as one transaction.
func (s *Store) InterruptRunningJobs(ctx context.Context) (int, error) {
	return write1(ctx, s, func(tx *Tx) (int, error) { return tx.InterruptRunningJobs(ctx) })
}

// ClaimKey is Tx.ClaimKey as one transaction.
func (s *Store) ClaimKey(ctx context.Context, k IdempotencyKey, ref string) (have string, joined bool, err error) {
	err = s.Write(ctx, func(tx *Tx) (err error) {
		have, joined, err = tx.ClaimKey(ctx, k, ref)
		return err
	})
	if err != nil {
		return "", false, err
	}
	return have, joined, nil
}
