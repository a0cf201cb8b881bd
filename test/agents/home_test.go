//go:build agents

package agents_test

import (
	"fmt"
	"path/filepath"
)

// key is the API key that every agent uses.
const key = "no-key-at-all-0123456789"

// home is what a user has set up before installing Orange: the provider, the key, and no update notices.
type home struct {
	env   []string          // of the server
	names []string          // for "agent_env": variables that no agent is known to need
	files map[string]string // below HOME
}

// nowhere is a proxy at which nothing listens: an agent reaches nothing but its model.
const nowhere = "http://127.0.0.1:9"

// homeOf returns the home of a user of one agent, whose provider is at url.
func homeOf(agent, dir, url string) home {
	switch agent {
	case "claude":
		return claudeHome(url)
	case "codex":
		return codexHome(url)
	case "opencode":
		return opencodeHome(url)
	case "gemini":
		return geminiHome(url)
	case "pi":
		return piHome(dir, url)
	}
	panic("no home for " + agent)
}

func claudeHome(url string) home {
	return home{
		env: []string{
			"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + key, "HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1", "DISABLE_AUTOUPDATER=1",
		},
		files: map[string]string{".claude.json": fmt.Sprintf(
			`{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":[%q],"rejected":[]}}`, key[len(key)-20:])},
	}
}

func codexHome(url string) home {
	return home{
		env:   []string{"SCRIPTED_KEY=" + key, "HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1"},
		names: []string{"SCRIPTED_KEY"},
		files: map[string]string{".codex/config.toml": fmt.Sprintf(`
model = "scripted-1"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[features]
plugins = false
[analytics]
enabled = false
`, url)},
	}
}

func opencodeHome(url string) home {
	return home{
		env: []string{
			"HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
		},
		files: map[string]string{
			// With a plugin it installs a package into its folder and waits for it; this is what an earlier
			// installation leaves.
			".config/opencode/node_modules/.keep": "",
			".config/opencode/package-lock.json":  `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}`,
			".config/opencode/opencode.json": fmt.Sprintf(`{"autoupdate":false,"share":"disabled","model":"scripted/scripted-1","small_model":"scripted/scripted-1",
"provider":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"scripted","options":{"baseURL":"%s/v1","apiKey":%q},
"models":{"scripted-1":{"name":"scripted-1","tool_call":true,"limit":{"context":200000,"output":8000}}}}}}`, url, key),
		},
	}
}

func geminiHome(url string) home {
	return home{
		env: []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=" + key},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"model":{"name":"gemini-2.5-flash"},
"general":{"disableAutoUpdate":true,"disableUpdateNag":true},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}`},
	}
}

func piHome(dir, url string) home {
	return home{
		env: []string{"PI_OFFLINE=1", "PI_TELEMETRY=0", "HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1", "PI_CODING_AGENT_DIR=" + filepath.Join(dir, ".pi", "agent")},
		files: map[string]string{
			".pi/agent/settings.json": `{"defaultProvider":"scripted","defaultModel":"scripted-1"}`,
			".pi/agent/models.json": fmt.Sprintf(`{"providers":{"scripted":{"baseUrl":"%s/v1","api":"openai-completions","apiKey":%q,
"models":[{"id":"scripted-1","name":"scripted-1","reasoning":false,"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":200000,"maxTokens":8000}]}}}`, url, key),
		},
	}
}
