{{/*
Refuses values that contradict each other, all at once. The schema refuses single values before. Each
line says the place, what is there, and what is allowed.
*/}}
{{- define "paddock.validate" -}}
{{- $found := list -}}
{{- range list "release" "apps" "config" "database" "env" "ports" "autoscaling" "webhook" "console" -}}
{{- $found = append $found (include (printf "paddock.validate.%s" .) $) -}}
{{- end -}}
{{- with $found | join "\n" | splitList "\n" | compact -}}
{{- fail (printf "\n- %s" (join "\n- " .)) -}}
{{- end -}}
{{- end -}}

{{- define "paddock.validate.release" -}}
{{- if and (not .Values.fullnameOverride) (not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" .Release.Name)) }}
the release's name: it is {{ .Release.Name }}, which no Service can have; allowed: small letters, digits and - after a letter, or fullnameOverride
{{- end }}
{{- end -}}

{{- define "paddock.validate.apps" -}}
{{- $places := dict -}}
{{- range $nth, $app := .Values.config.github.apps }}
{{- $place := printf "config.github.apps[%d]" $nth -}}
{{- $id := $app.id | int64 | toString -}}
{{- with get $places $id }}
{{ $place }}.id: {{ $id }} is the id of {{ . }} too; allowed: each App once
{{- end }}
{{- $_ := set $places $id $place -}}
{{- range $key, $readers := include "paddock.readers" $ | fromYaml }}
{{- if not (or (get $app $key) (eq $key "previousWebhookSecret")) }}
{{ $place }}.{{ $key }}: it is missing, and {{ $readers | join " and " }} cannot start; allowed: { file: PATH } or { env: NAME }
{{- end }}
{{- range $reader := $readers }}
{{- include "paddock.validate.source" (dict "root" $ "place" (printf "%s.%s" $place $key) "source" (get $app $key | default dict) "service" $reader) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The services refuse these at their start, and their pods would never be ready. */}}
{{- define "paddock.validate.config" -}}
{{- with .Values.config.github -}}
{{- $url := .apiUrl | default "" -}}
{{- if and (hasPrefix "http://" $url) (not .allowPlainHttp) (not (regexMatch "^http://(localhost|127[.][0-9.]+|\\[::1\\])(:|/|$)" $url)) }}
config.github.apiUrl: it is {{ $url }}, and tokens would cross the network unencrypted; allowed: https://…, or allowPlainHttp: true beside it
{{- end }}
{{- end }}
{{- $places := dict -}}
{{- range $nth, $pool := .Values.config.pools }}
{{- $place := printf "config.pools[%d]" $nth -}}
{{- with get $places $pool.name }}
{{ $place }}.name: {{ $pool.name }} is the name of {{ . }} too; allowed: each name once
{{- end }}
{{- $_ := set $places $pool.name $place -}}
{{- end }}
{{- end -}}

{{/* Whether a service has the file or the variable of a secret. Takes root, place, source and service. */}}
{{- define "paddock.validate.source" -}}
{{- $values := index .root.Values .service -}}
{{- $folder := include "paddock.credentials" . -}}
{{- with .source.file }}
{{- $file := . -}}
{{- $known := false -}}
{{- if (index $.root.Values.credentials $folder).existingSecret }}{{ $known = hasPrefix (printf "/etc/paddock/%s/" $folder) $file }}{{ end -}}
{{- range $values.volumeMounts }}{{ if hasPrefix (trimSuffix "/" .mountPath) $file }}{{ $known = true }}{{ end }}{{ end -}}
{{- if not $known }}
{{ $.place }}.file: it is {{ $file }}, which {{ $.service }} does not mount; allowed: /etc/paddock/{{ $folder }}/KEY with credentials.{{ $folder }}.existingSecret, or a path below {{ $.service }}.volumeMounts
{{- end }}
{{- end }}
{{- with .source.env }}
{{- $names := list -}}
{{- range concat $.root.Values.env $values.env }}{{ $names = append $names .name }}{{ end -}}
{{- if not (has . $names) }}
{{ $.place }}.env: it is {{ . }}, a variable that {{ $.service }} does not have; allowed: a name in env or {{ $.service }}.env
{{- end }}
{{- end }}
{{- end -}}

{{- define "paddock.validate.database" -}}
{{- if .Values.evaluation.enabled }}
{{- with .Values.database.existingSecret.name }}
database.existingSecret.name: it is {{ . }}, and evaluation.enabled is true; allowed: one of both
{{- end }}
{{- if .Values.migration.hook }}
migration.hook: it is true, and evaluation.enabled too; allowed: false, for a hook runs before that database is there
{{- end }}
{{- else if not .Values.database.existingSecret.name }}
{{- $without := list -}}
{{- $off := dict "migrate" (not .Values.migration.enabled) "console" (not .Values.console.enabled) -}}
{{- range list "ingress" "scheduler" "reconciler" "console" "migrate" -}}
{{- if not (or (index $.Values.database.logins .).name (get $off .)) }}{{ $without = append $without . }}{{ end -}}
{{- end -}}
{{- with $without }}
database.existingSecret.name: it is empty, and {{ . | join ", " }} has no DSN; allowed: a Secret's name, a login of each service in database.logins, or evaluation.enabled
{{- end }}
{{- end }}
{{- with .Values.database.certificateAuthority }}{{ if and .configMap .secret }}
database.certificateAuthority: configMap is {{ .configMap }} and secret is {{ .secret }}; allowed: one of both
{{- end }}{{ end }}
{{- end -}}

{{/* The chart derives ports, the grace period and NOTES from these, so it must know them. */}}
{{- define "paddock.validate.env" -}}
{{- $elsewhere := dict "DATABASE_URL" "database.existingSecret or database.logins" "PADDOCK_CONFIG" "config" -}}
{{- range list "PADDOCK_DRAIN_MS" "PADDOCK_PUBLIC_PORT" "PADDOCK_HEALTH_PORT" "PADDOCK_CONSOLE_PATH_PREFIX" "PADDOCK_INGRESS_POOL_SIZE" "PADDOCK_SCHEDULER_POOL_SIZE" "PADDOCK_RECONCILER_POOL_SIZE" "PADDOCK_CONSOLE_POOL_SIZE" -}}
{{- $_ := set $elsewhere . (printf "settings.%s" .) -}}
{{- end -}}
{{- range $place, $env := dict "env" .Values.env "ingress.env" .Values.ingress.env "scheduler.env" .Values.scheduler.env "reconciler.env" .Values.reconciler.env "console.env" .Values.console.env "migration.env" .Values.migration.env }}
{{- range $env }}
{{- $name := .name }}
{{- with get $elsewhere $name }}
{{ $place }}: it has {{ $name }}; allowed: {{ . }} instead
{{- end }}
{{- if hasKey $.Values.settings $name }}
{{ $place }}: it has {{ $name }}, and settings too; allowed: one of both
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "paddock.validate.ports" -}}
{{- $ports := include "paddock.ports" . | fromYaml -}}
{{- if eq (int $ports.ingress.webhook) (int $ports.ingress.health) }}
settings.PADDOCK_HEALTH_PORT: {{ $ports.ingress.health }} is the webhook's port (PADDOCK_PUBLIC_PORT) too; allowed: another one
{{- end }}
{{- if eq (int $ports.console.page) (int $ports.console.health) }}
settings.PADDOCK_HEALTH_PORT: {{ $ports.console.health }} is the page's port (PADDOCK_PUBLIC_PORT) too; allowed: another one
{{- end }}
{{- end -}}

{{- define "paddock.validate.autoscaling" -}}
{{- with .Values.ingress.autoscaling }}{{ if .enabled }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
ingress.autoscaling.minReplicas: it is {{ .minReplicas }}; allowed: at most maxReplicas, which is {{ .maxReplicas }}
{{- end }}
{{- if not (dig "requests" "cpu" "" $.Values.ingress.resources) }}
ingress.resources.requests.cpu: it is empty, and the autoscaler measures by it; allowed: an amount such as 100m
{{- end }}
{{- end }}{{ end }}
{{- end -}}

{{- define "paddock.validate.webhook" -}}
{{- include "paddock.validate.ways" (dict "place" "webhook" "values" .Values.webhook "callers" "GitHub reaches the webhook") }}
{{- end -}}

{{- define "paddock.validate.console" -}}
{{- if .Values.console.enabled }}
{{- $prefix := get .Values.settings "PADDOCK_CONSOLE_PATH_PREFIX" }}
{{- if not (regexMatch "^(/[0-9A-Za-z_.-]+)*$" $prefix) }}
settings.PADDOCK_CONSOLE_PATH_PREFIX: it is {{ $prefix }}; allowed: a path with a slash before each part, such as /paddock
{{- end }}
{{- with .Values.console.signIn }}
{{- if not (or (dig "groups" "read" "" .) (dig "groups" "operate" "" .)) }}
console.signIn.groups: it names no group, so nobody could sign in; allowed: { read: [GROUP], operate: [GROUP] }, and read: ['*'] for everybody
{{- end }}
{{- if not (or .oidc .proxy) }}
console.signIn: nobody says who people are; allowed: oidc, or proxy, beside groups
{{- end }}
{{- include "paddock.validate.source" (dict "root" $ "place" "console.signIn.oidc.clientSecret" "source" (dig "oidc" "clientSecret" dict .) "service" "console") }}
{{- end }}
{{- include "paddock.validate.ways" (dict "place" "console" "values" .Values.console "callers" "people reach the console") }}
{{- end }}
{{- end -}}

{{/* The Ingress and the route of a Service. Takes place, values and callers. */}}
{{- define "paddock.validate.ways" -}}
{{- if and .values.ingress.enabled (not .values.ingress.host) }}
{{ .place }}.ingress.host: it is empty; allowed: the name by which {{ .callers }}
{{- end }}
{{- if .values.gateway.enabled }}
{{- if not .values.gateway.hostnames }}
{{ .place }}.gateway.hostnames: it is empty; allowed: the names by which {{ .callers }}
{{- end }}
{{- if not .values.gateway.parentRefs }}
{{ .place }}.gateway.parentRefs: it is empty; allowed: the Gateways of the route, as [{ name: public, namespace: gateways }]
{{- end }}
{{- end }}
{{- end -}}
