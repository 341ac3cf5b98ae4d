package core

import (
	"context"
	"encoding/json"

	"termic/internal/store"
)

// Kinds of intent: acts that touch both git and the store.
const (
	intentCreate  = "create"
	intentArchive = "archive"
	intentRestore = "restore"
	intentApply   = "apply"
	intentDiscard = "discard"
	// intentRun stands while an app runs on the profile: a start that finds it knows that the app before was killed.
	intentRun = "run"
)

// createIntent is the payload of intentCreate and intentRestore.
type createIntent struct {
	Task string `json:"task"`
	Mode string `json:"mode"`
	Path string `json:"path"`
	Job  string `json:"job"`
	// Branch and Commit are of the branch that was about to be created; empty when none was.
	Branch string `json:"branch,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// archiveIntent is the payload of intentArchive.
type archiveIntent struct {
	Task         string `json:"task"`
	Discard      bool   `json:"discard"`
	DeleteBranch bool   `json:"delete_branch"`
	// Backups counts the backup refs that earlier archives of the task left, and Head is the commit that the worktree is
	// on: after a crash they tell which backup is this archive's, and where the branch was when there is none.
	Backups int    `json:"backups"`
	Head    string `json:"head"`
}

// applyIntent is the payload of intentApply.
type applyIntent struct {
	Task string `json:"task"`
	Root string `json:"root"`
}

// discardIntent is the payload of intentDiscard, which stands for an undo too.
type discardIntent struct {
	Task string `json:"task"`
}

// intentID makes the id of an intent from what it is about: at most one of a kind is under way for a task.
func intentID(kind, task string) string { return kind + ":" + task }

func beginIntent(ctx context.Context, tx *store.Tx, kind, task string, payload any) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	_, err = tx.BeginIntent(ctx, store.Intent{ID: intentID(kind, task), Kind: kind, Payload: raw})
	return err
}
