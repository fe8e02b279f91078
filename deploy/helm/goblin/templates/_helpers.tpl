{{/* A release that is named like the chart has one name, not two. */}}
{{- define "goblin.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "goblin.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "goblin.labels" -}}
{{ include "goblin.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "goblin.secret" -}}
{{- .Values.existingSecret | default (ternary (include "goblin.name" .) "" (not (empty .Values.secret))) }}
{{- end }}

{{- define "goblin.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "goblin.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{/* The API and the metrics have a port of their own if the config says so. */}}
{{- define "goblin.adminPort" -}}
{{- dig "gateway" "admin" "port" "" .Values.config }}
{{- end }}

{{- define "goblin.scheme" -}}
{{- ternary "HTTPS" "HTTP" (not (empty (dig "gateway" "tls" dict .Values.config))) }}
{{- end }}

{{/* Whether pods are replicas of each other: "true" or nothing. */}}
{{- define "goblin.isCluster" -}}
{{- if or .Values.cluster.enabled .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) }}true{{ end }}
{{- end }}

{{/* The config, with how replicas find each other; what it says of that itself wins. */}}
{{- define "goblin.config" -}}
{{- $config := deepCopy .Values.config }}
{{- if include "goblin.isCluster" . }}
{{- $port := toString .Values.cluster.port }}
{{- $pod := ternary "[${env:POD_IP}]" "${env:POD_IP}" .Values.cluster.ipv6 }}
{{- $any := ternary "[::]" "0.0.0.0" .Values.cluster.ipv6 }}
{{- $cluster := dict "listen" (printf "%s:%s" $any $port) "address" (printf "%s:%s" $pod $port) }}
{{- with .Values.cluster.redis }}{{ $cluster = set $cluster "redis" . }}{{ end }}
{{- $config = merge $config (dict "cluster" $cluster) }}
{{- end }}
{{- toPrettyJson $config }}
{{- end }}
