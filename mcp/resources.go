package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/grant"
	"termic/internal/ids"
	"termic/internal/inlet"
	"termic/internal/verb"
)

// resourceScheme is that of every resource. Links that a person clicks have another one, so that neither is taken for the
// other.
const resourceScheme = "termic-res://"

// resource is one kind of thing that can be read by its address: what a verb gives that only reads, byte for byte. It adds
// no authority, since reading one is a call of the verb.
type resource struct {
	path  string // after the scheme; {id} stands for the id of a task or job
	verb  string
	param string // of the verb, which takes the id
	fixed string // further members of the parameters
	title string
}

// resources are all that there are, in the order in which they are listed.
var resources = []resource{
	{path: "tasks", verb: "task_list", title: "Tasks"},
	{path: "approvals/pending", verb: "approval_list", fixed: `"state":"pending"`, title: "What waits for a decision"},
	{path: "events/recent", verb: "job_events", title: "Newest events of jobs"},
	{path: "health", verb: "health", title: "State of the app"},
	{path: "tasks/{id}", verb: "task_status", param: "task", title: "A task"},
	{path: "tasks/{id}/log", verb: "task_log", param: "task", title: "Newest output of a task's terminal"},
	{path: "tasks/{id}/drift", verb: "task_drift", param: "task", title: "How the base of a task moved"},
	{path: "jobs/{id}", verb: "job_get", param: "job", title: "A job"},
	{path: "jobs/{id}/log", verb: "job_log", param: "job", title: "What a job printed"},
}

// resourceType is the media type of them all.
const resourceType = "application/json"

// maxListed bounds the tasks that resources/list names.
const maxListed = 100

// readable returns the resources that callers of a class may read.
func readable(class grant.Class) (out []resource) {
	for _, r := range resources {
		if v, ok := verb.Lookup(r.verb); ok && v.On(grant.MCP) && v.For(class) {
			out = append(out, r)
		}
	}
	return out
}

// find takes the path of an address apart. Nothing in it is decoded or tidied up: there is one way to write each address.
func find(class grant.Class, uri string) (r resource, id string, ok bool) {
	path, ok := strings.CutPrefix(uri, resourceScheme)
	if !ok {
		return r, "", false
	}
	parts := strings.Split(path, "/")
	if len(parts) > 1 && ids.Valid(parts[1]) {
		id, parts[1] = parts[1], "{id}"
	}
	path = strings.Join(parts, "/")
	for _, r := range readable(class) {
		if r.path == path && (r.param != "") == (id != "") {
			return r, id, true
		}
	}
	return r, "", false
}

// entry is a resource in resources/list, or a kind of them in resources/templates/list.
type entry struct {
	URI      string `json:"uri,omitempty"`
	Template string `json:"uriTemplate,omitempty"`
	Name     string `json:"name"`
	Title    string `json:"title,omitempty"`
	MIMEType string `json:"mimeType"`
}

// listResources is resources/list: what has an address of its own, and the tasks that the caller may read. The agent of a caged
// task finds its own there; those that it creates come back with their ids.
func (s *Server) listResources(ctx context.Context, caller grant.Caller, x *exchange) (members, *rpcError) {
	if e := noCursor(x); e != nil {
		return members{}, e
	}
	list := []entry{}
	for _, r := range readable(caller.Class) {
		if r.param == "" {
			list = append(list, entry{URI: resourceScheme + r.path, Name: r.path, Title: r.title, MIMEType: resourceType})
		}
	}
	tasks, e := s.tasksOf(ctx, caller)
	if e != nil {
		return members{}, e
	}
	for _, t := range tasks {
		list = append(list, entry{URI: resourceScheme + "tasks/" + t.ID, Name: "tasks/" + t.ID, Title: t.Name, MIMEType: resourceType})
	}
	return members{fmt.Appendf(nil, `"resources":%s,"ttlMs":0,"cacheScope":"private"`, inlet.JSON(list))}, nil
}

// tasksOf are the tasks that resources/list names.
func (s *Server) tasksOf(ctx context.Context, caller grant.Caller) ([]api.TaskSummary, *rpcError) {
	if v, ok := verb.Lookup("task_list"); !ok || !v.For(caller.Class) {
		if caller.Task == "" {
			return nil, nil
		}
		return []api.TaskSummary{{ID: caller.Task, Name: "Your task"}}, nil
	}
	raw, err := s.o.Backend.Call(ctx, caller, "task_list", json.RawMessage(`{"quiet":true}`), nil)
	if err != nil {
		return nil, unread(err, "")
	}
	var result api.TaskListResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, unread(err, "")
	}
	return result.Tasks[:min(len(result.Tasks), maxListed)], nil
}

// listTemplates is resources/templates/list.
func (s *Server) listTemplates(_ context.Context, caller grant.Caller, x *exchange) (members, *rpcError) {
	if e := noCursor(x); e != nil {
		return members{}, e
	}
	list := []entry{}
	for _, r := range readable(caller.Class) {
		if r.param != "" {
			list = append(list, entry{Template: resourceScheme + r.path, Name: r.path, Title: r.title, MIMEType: resourceType})
		}
	}
	return members{fmt.Appendf(nil, `"resourceTemplates":%s,"ttlMs":%d,"cacheScope":"private"`, inlet.JSON(list), cacheMillis)}, nil
}

// readResource is resources/read. What is hidden, what is missing and what has no such address give the same answer.
func (s *Server) readResource(ctx context.Context, caller grant.Caller, x *exchange) (members, *rpcError) {
	r, id, ok := find(caller.Class, x.name)
	if !ok {
		return members{}, noResource(x.name)
	}
	params := []string{}
	if r.fixed != "" {
		params = append(params, r.fixed)
	}
	if id != "" {
		params = append(params, fmt.Sprintf("%q:%q", r.param, id))
	}
	result, err := s.o.Backend.Call(ctx, caller, r.verb, json.RawMessage("{"+strings.Join(params, ",")+"}"), nil)
	if err != nil {
		return members{}, unread(err, x.name)
	}
	text := inlet.JSON(string(bytes.TrimSpace(result)))
	contents := fmt.Appendf(nil, `"contents":[{"uri":%s,"mimeType":"%s","text":%s}],"ttlMs":0,"cacheScope":"private"`, inlet.JSON(x.name), resourceType, text)
	return members{contents}, nil
}

// unread puts what a verb refused into the form of the protocol, which has no result for a resource that could not be read.
func unread(err error, uri string) *rpcError {
	f := fault.From(err)
	if code := f.Code; uri != "" && (code == fault.NotFound || code == fault.Forbidden || code == fault.InvalidArgument) {
		return noResource(uri)
	}
	e := refuse(http.StatusOK, codeInternal, f.Message)
	e.data = map[string]any{"code": f.Code, "hint": toolWords(f.Hint)}
	return e
}

func noResource(uri string) *rpcError {
	e := refuse(http.StatusOK, codeParams, "There is no such resource")
	if len(uri) <= maxQuoted*2 {
		e.data = map[string]string{"uri": strings.ToValidUTF8(uri, "?")}
	}
	return e
}
