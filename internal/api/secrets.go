package api

// SecretListParams are the parameters of secret_list.
type SecretListParams struct{}

// SecretSetParams are the parameters of secret_set. The value comes from standard input or a file on the command line.
type SecretSetParams struct {
	Name  string `json:"name" cli:"arg" doc:"name of the variable: capital letters, digits and _, at most 64 of them"`
	Value string `json:"value,omitempty" cli:"-" secret:"yes" doc:"the value, at most 32 KiB of text"`
	File  string `json:"-" cli:"file" doc:"file to read the value from, as it is; standard input when left out, without its last line break"`
	Note  string `json:"note,omitempty" cli:"note" doc:"what it is for; shown to whoever may read the list"`
}

// SecretDeleteParams are the parameters of secret_delete.
type SecretDeleteParams struct {
	Name  string `json:"name" cli:"arg" doc:"name of the secret"`
	Force bool   `json:"force,omitempty" cli:"force" doc:"also while tasks or projects name it, whose agents do not start then, and where the keyring does not answer"`
	Yes   bool   `json:"-" cli:"yes,y" face:"cli" doc:"do not ask"`
}

// Secret is what is told of a secret: never its value.
type Secret struct {
	Name     string   `json:"name"`
	Note     string   `json:"note,omitempty"`
	KeptIn   string   `json:"kept_in"` // "keyring" of the platform, or "file": in the data folder, of the owner's alone
	Created  string   `json:"created"` // RFC 3339, UTC
	Updated  string   `json:"updated"` // when its value was set last
	Used     string   `json:"used,omitempty"`
	Tasks    []string `json:"tasks"`    // ids of the tasks that name it, archived ones apart, as far as the caller may know of them
	Projects []string `json:"projects"` // ids of the projects whose new tasks name it, in the same manner
}

// SecretListResult is the result of secret_list, sorted by name.
type SecretListResult struct {
	Secrets []Secret `json:"secrets"`
}

// SecretHolder is a terminal that runs with a value that was replaced or deleted.
type SecretHolder struct {
	TaskID string `json:"task_id"`
	Task   string `json:"task"` // its name
	TabID  string `json:"tab_id"`
	Tab    string `json:"tab"` // its title
}

// SecretSetResult is the result of secret_set.
type SecretSetResult struct {
	Secret Secret `json:"secret"`
	// Why says, where the value is in a file, why it is in no keyring: a sentence without an end.
	Why string `json:"why,omitempty"`
	// Holders are the terminals that go on with an older value until they are started again.
	Holders []SecretHolder `json:"holders"`
}

// SecretDeleteResult is the result of secret_delete.
type SecretDeleteResult struct {
	Name string `json:"name"`
	// Why says, after force, why the value may be in the keyring still: a sentence without an end.
	Why     string         `json:"why,omitempty"`
	Holders []SecretHolder `json:"holders"` // terminals that go on with the value until they end
}
