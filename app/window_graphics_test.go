//go:build !headless

package app

import (
	"testing"
	"testing/fstest"

	"github.com/wailsapp/wails/v2/pkg/options/linux"
)

func TestPlanGraphics(t *testing.T) {
	card := fstest.MapFS{"dev/dri/renderD128": {}}
	nvidia := fstest.MapFS{"dev/dri/renderD128": {}, "proc/driver/nvidia/version": {}}
	none := fstest.MapFS{"dev/null": {}}
	for _, c := range []struct {
		name     string
		root     fstest.MapFS
		env      map[string]string
		want     graphics
		hardware bool
	}{
		{"a card", card, nil, graphics{false, linux.WebviewGpuPolicyOnDemand}, true},
		{"no card", none, nil, graphics{true, linux.WebviewGpuPolicyNever}, false},
		{"nvidia", nvidia, nil, graphics{true, linux.WebviewGpuPolicyOnDemand}, false},
		{"the person's value is kept", nvidia, map[string]string{noDMABuf: "0"}, graphics{false, linux.WebviewGpuPolicyOnDemand}, true},
		{"always", none, map[string]string{"TERMIC_GPU": "always"}, graphics{true, linux.WebviewGpuPolicyAlways}, false},
		{"never", card, map[string]string{"TERMIC_GPU": "never"}, graphics{false, linux.WebviewGpuPolicyNever}, false},
		{"nonsense", card, map[string]string{"TERMIC_GPU": "maybe"}, graphics{false, linux.WebviewGpuPolicyOnDemand}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := planGraphics(c.root, func(name string) string { return c.env[name] })
			if got != c.want || got.hardware() != c.hardware {
				t.Errorf("%+v, hardware %v", got, got.hardware())
			}
		})
	}
}
