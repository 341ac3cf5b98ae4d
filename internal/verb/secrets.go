package verb

import (
	"termic/internal/core"
	"termic/internal/grant"
)

// secrets are the verbs of secrets, of which no answer ever holds a value.
var secrets = []Verb{
	define(Verb{Name: "secret_list", CLI: "secret list", Aliases: []string{"secret ls"}, Class: grant.Full, Effect: reads, Toolset: Operations,
		Doc: "List secrets by name, with what names them; never a value"}, (*core.Core).SecretList),
	define(Verb{Name: "secret_set", CLI: "secret set", Class: grant.Owner, Effect: sets, NotOn: notOnMCP(secretsAreTheOwners),
		Doc: "Keep a value for agents, from standard input or a file; terminals that run keep the older one"}, (*core.Core).SecretSet),
	define(Verb{Name: "secret_delete", CLI: "secret delete", Aliases: []string{"secret rm"}, Class: grant.Owner, Effect: destroys, NotOn: notOnMCP(secretsAreTheOwners),
		Doc: "Forget a secret and its value; refused while tasks or projects name it"}, (*core.Core).SecretDelete),
}

const secretsAreTheOwners = "values are the owner's to give and to take"
