package core

import (
	"strings"
	"testing"

	"termic/internal/fault"
)

// TestSecretNames: what steers a program is no secret, however it is written, and a refusal never repeats a value.
func TestSecretNames(t *testing.T) {
	for _, name := range strings.Fields("API_KEY _X A1 NPM_TOKEN PYTHON_API_KEY GITHUB_TOKEN LDAP_PASSWORD DOCKER_PASSWORD CCX GOOGLE_API_KEY") {
		if err := checkSecretName(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"PATH", "LD_PRELOAD", "ld_preload", "Ld_Preload", "LD_PRELOAD ", "LD\u200b_PRELOAD", "\uff2c\uff24_PRELOAD", "LD_PRELOAD=x", "A\x00B", "", "1A", "GIT_SSH_COMMAND",
		"TERMIC_MCP_TOKEN", "BASH_FUNC_x%%", "NPM_CONFIG_REGISTRY", "NPM_CONFIG_NODE_OPTIONS", "NODE_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "PYTHONWARNINGS", "PYTHONBREAKPOINT",
		"PERL5DB", "RUSTC_WORKSPACE_WRAPPER", "CC", "MAKEFLAGS", "LESSOPEN", "MANPAGER", "SSH_ASKPASS", "DOCKER_HOST", "GOTOOLCHAIN", strings.Repeat("A", 65)} {
		if err := checkSecretName(name); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := checkSecretName("KEY=pl4nted"); strings.Contains(fault.From(err).Error()+fault.From(err).Hint, "pl4nted") {
		t.Errorf("it repeats the value: %v", err)
	}
}
