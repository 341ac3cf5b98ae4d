// Package api holds the parameters and results of every verb: the one place where their names, types, limits and
// sentences are written. The verb table refers to these types, and from their fields are made the JSON schema, the CLI
// flags, the TypeScript types and docs/verbs.md.
//
// Parameters are camelCase on the wire and kebab-case on the command line; results are snake_case. The struct tags of
// a parameter are read by internal/verb:
//
//	json     its wire name; "omitempty" marks it optional
//	doc      one clause that says what it means
//	tool     what an MCP client reads instead of doc, since every conversation pays for each word there; "-" = nothing
//	list     of a list: "whole" = a comma parts nothing, each value is given by itself; "hosts" = a number behind a comma is one more port
//	enum     its allowed values, separated by |
//	cli      "arg" = positional; "rest" = all remaining words, joined unless it is a list; "-" = not on the command line; otherwise "name" or "name,x" (short x)
//	class    the narrowest class that may give it; none = that of the verb
//	face     the faces that have it, separated by |; none = all
//	unit     "ms" = the command line takes a duration (90, 1m30s), the wire takes milliseconds
//
// Shapes only grow: a field that was published is never renamed or retyped.
package api
