{{/* The DSN, the settings, and the variables below. */}}
{{- define "paddock.environment" -}}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: {{ include "paddock.dsn" . }} }
{{- range $name, $value := .root.Values.settings }}
{{- /* Printed as they stand: a template would write 3600000 as 3.6e+06. */}}
- { name: {{ $name | quote }}, value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }} }
{{- end }}
{{- include "paddock.variables" . }}
{{- end -}}

{{/* What the operator adds, without the secrets of others. */}}
{{- define "paddock.variables" -}}
{{- $others := include "paddock.othersSecrets" . | fromJsonArray }}
{{- range .root.Values.env }}
{{- if not (has .name $others) }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end }}
{{- with .values.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The services that read each secret of an App. */}}
{{- define "paddock.readers" -}}
webhookSecret: [ingress]
previousWebhookSecret: [ingress]
privateKey: [scheduler, reconciler]
{{- end -}}

{{/* The variables of secrets in `config` that a service does not read: none of `env` for all reaches it. */}}
{{- define "paddock.othersSecrets" -}}
{{- $own := dict -}}
{{- $others := dict -}}
{{- range $app := .root.Values.config.github.apps -}}
{{- range $key, $readers := include "paddock.readers" $ | fromYaml -}}
{{- with dig $key "env" "" $app -}}
{{- $_ := set (ternary $own $others (has $.service $readers)) . true -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with dig "notifications" "webhook" "env" "" .root.Values.config -}}
{{- $_ := set (ternary $own $others (eq $.service "reconciler")) . true -}}
{{- end -}}
{{- range keys $own }}{{ $_ := unset $others . }}{{ end -}}
{{- keys $others | toJson -}}
{{- end -}}
